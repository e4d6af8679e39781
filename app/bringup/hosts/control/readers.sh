# Argument: PID. Prints PID and start of each child that reads what this process writes: `exec > >(tee log)` in a script that
# then became the process. It ends by itself with the last writer, and must not end before.
pid=$1
for number in $(ls -l "/proc/$pid/fd/1" "/proc/$pid/fd/2" 2>/dev/null | sed -n 's/.* -> pipe:\[\([0-9]*\)\]$/\1/p' | sort -u); do
    for child in $(ls -l /proc/[0-9]*/fd/0 2>/dev/null | sed -n "s|.* /proc/\([0-9]*\)/fd/0 -> pipe:\[$number\]\$|\1|p"); do
        identify "$child" && [ "$ppid" = "$pid" ] && echo "$child $start"
    done
done
