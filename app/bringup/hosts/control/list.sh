# The numbers of every process: PID, parent, group, session, start, state. Of the PIDs that are given, where any are.
if [ $# -eq 0 ]; then
    for folder in /proc/[0-9]*; do set -- "$@" "${folder#/proc/}"; done
fi
for pid; do
    identify "$pid" && echo "$pid $ppid $pgid $sid $start $state"
done
