# The numbers of every process: PID, parent, group, session, start, state. Of the PIDs that are given, where any are.
[ $# -gt 0 ] || set -- /proc/[0-9]*
for pid; do
    pid=${pid#/proc/}
    identify "$pid" && echo "$pid $ppid $pgid $sid $start $state"
done
