# The Python stacks of one process where py-spy is there, and its command line: both read the process's own memory, which
# can wait for a lock that it holds. Arguments: SECONDS that py-spy may take, PID, START, and a FOLDER in which py-spy may
# lie beside the server's own program; it may also lie on the server's own PATH. py-spy is asked not to pause the process: a
# server in trouble is looked at only.
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
export PATH
limit=$1 pid=$2 began=$3 folder=$4

# Nothing is run that somebody else than root or we ourselves could have put there.
trusted() {
    for each; do
        owner=$(ls -ldnL "$each" 2>/dev/null) || return 1
        set -f
        set -- $owner
        set +f
        case $3 in 0 | "$(id -u)") ;; *) return 1 ;; esac
        case $1 in ?????w* | ????????w*) return 1 ;; esac
    done
}

theirs() {
    places=$folder:$(tr '\000' '\n' <"/proc/$pid/environ" 2>/dev/null | sed -n 's/^PATH=//p' | head -n 1)
    IFS=:
    set -f
    for each in $places; do
        case $each in /*) [ ! -x "$each/py-spy" ] || { printf '%s\n' "$each/py-spy" && return; } ;; esac
    done
}

# What runs on while it is read gives nonsense now and then: it is read again.
dump() {
    for _ in 1 2 3 4 5 6 7 8; do
        answer=$(within "$spy" dump --nonblocking --pid "$pid")
        case $answer in
            *[Pp]ermission* | *'find python version'*) break ;;
            *'py-spy ended with status'*) ;;
            *) break ;;
        esac
    done
    printf '%s\n' "$answer"
}

identify "$pid" && [ "$start" = "$began" ] || exit 0
section "Python stacks of $pid"
theirs=''
spy=$(command -v py-spy) || { spy=$(theirs) && theirs=${spy%/*}; }
if [ -z "$spy" ]; then
    echo 'There is no py-spy on this machine: only the kernel can tell where the process is.'
elif [ -n "$theirs" ] && ! trusted "$theirs" "$spy"; then
    printf '%s\n' "$spy is not run: somebody else than root and this user could have put it there." | plain
else
    dump | sed '/^Stack backtrace:/,/^py-spy ended/{/^py-spy ended/!d;}'
fi
section "command line of $pid"
tr '\000-\037\177' ' ' <"/proc/$pid/cmdline" 2>&1 | plain | sed 's/ *$//'
