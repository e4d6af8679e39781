# identify PID: reads /proc/PID/stat (proc_pid_stat(5)) into comm, state, ppid, pgid, sid, tpgid, nice and start; fails where there is
# no such process. A name may hold anything, ") R 1" and line ends too: the numbers stand after the last parenthesis.
# A process whose first thread has ended (pthread_exit(3)) is told as a zombie, while others of its threads may run on:
# then its state is that of one of them.
LC_ALL=C
export LC_ALL
identify() {
    asked=$1 line=''
    while IFS= read -r part; do line="$line$part "; done 2>/dev/null <"/proc/$1/stat"
    [ -n "$line" ] || return 1
    comm=${line#*\(}
    comm=${comm%\)*}
    set -f
    set -- ${line##*\)}
    set +f
    state=$1 ppid=$2 pgid=$3 sid=$4 tpgid=$6 nice=${17} start=${20}
    [ "$state" != Z ] || [ "${18}" -le 1 ] || state=$(of_threads "$asked")
}
of_threads() {
    found=$(sed -n 's/.*) \([^XZ]\) .*/\1/p' "/proc/$1/task/"*/stat 2>/dev/null | head -n 1)
    echo "${found:-Z}"
}
# alive PID:START: that very process runs.
alive() { identify "${1%:*}" && [ "$start" = "${1#*:}" ] && [ "$state" != Z ] && [ "$state" != X ]; }
