# Lists processes with a word of interest in their command line, and everything above them. Arguments: PID PATTERN...
#   PID      a process that is listed whatever its command line says; empty: none
#   PATTERN  as grep -i takes it
# Answers: one line on the host, then for each process a line and below it the bytes of its command line as od prints them;
# last, as A, this shell and all above it.
wanted=$1
shift
LC_ALL=C
export LC_ALL
cd /proc || exit
read -r up _ <uptime
printf 'K\t%s\t%s\t%s\t%s\t%s\n' "$(date +%s.%N)" "$up" "$(getconf CLK_TCK 2>/dev/null)" "$([ -e 1/stat ] || echo hidden)" "$(id -un)"

read_stat() {
    # A name with a line end takes two lines: the last one holds the numbers.
    stat=''
    { while read -r line; do stat=$line; done <"$1/stat"; } 2>/dev/null
    [ -n "$stat" ]
}
for pattern; do
    shift
    set -- "$@" -e "$pattern"
done
pids=' ' count=0
for file in ${wanted:+"$wanted/cmdline"} $(grep -il "$@" [0-9]*/cmdline 2>/dev/null); do
    pid=${file%/*} depth=0
    while [ "${pid:-0}" -gt 0 ] && [ $((depth += 1)) -lt 40 ]; do
        case $pids in *" $pid "*) break ;; esac
        read_stat "$pid" && [ $((count += 1)) -lt 1000 ] || break
        pids="$pids$pid "
        printf 'P\t%s\t%s\n' "$pid" "${stat##*) }"
        od -An -v -tx1 -N 65536 <"$pid/cmdline" 2>/dev/null
        set -- ${stat##*) }
        pid=$2
    done
done
# Columns of ls -l: mode, links, user, group (which may have blanks), …, name.
[ "$pids" = ' ' ] || ls -ld $pids 2>/dev/null | while read -r _ _ user rest; do
    printf 'U\t%s\t%s\n' "${rest##* }" "$user"
done
pid=$$ above=
while [ "${pid:-0}" -gt 0 ] && [ ${#above} -lt 1000 ]; do
    above="$above $pid"
    read_stat "$pid" || break
    set -- ${stat##*) }
    pid=$2
done
printf 'A\t%s\n' "${above# }"
