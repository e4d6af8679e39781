# identify PID: reads /proc/PID/stat (proc_pid_stat(5)) into comm, state, ppid, pgid, sid, nice and start; fails where there is
# no such process. A name may hold anything, ") R 1" and line ends too: the numbers stand after the last parenthesis.
LC_ALL=C
export LC_ALL
identify() {
    line=''
    while IFS= read -r part; do line="$line$part "; done 2>/dev/null <"/proc/$1/stat"
    [ -n "$line" ] || return 1
    comm=${line#*\(}
    comm=${comm%\)*}
    set -f
    set -- ${line##*\)}
    set +f
    state=$1 ppid=$2 pgid=$3 sid=$4 nice=${17} start=${20}
}
