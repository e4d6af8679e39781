# Arguments: PID START FOLDER LOG INSIDE. Tells what a process was launched with, one fact a line: its key, a blank, a
# value; values that may hold any byte are hexadecimal. With a FOLDER, what a second launch needs is kept in it: the
# environment can hold secrets and does not leave this machine. LOG stands for an output that is a pipe, INSIDE = yes
# says that a terminal will be there.
pid=$1 wanted=$2 folder=$3 log=$4 inside=$5 proc=/proc/$1
umask 077

tell() { printf '%s ' "$1" && od -An -v -tx1 | tr -d ' \n' && echo; }
link() { readlink -n "$1" && echo .; }
same() { identify "$pid" && [ "$start" = "$wanted" ] && [ "$state" != Z ]; }

# Prints what an output is: file, deleted, readonly, null, pipe, terminal, socket or other.
kind() {
    if [ -f "$1" ]; then
        [ "$2" -ef "$1" ] || { echo deleted; return; }
        if [ -w "$2" ]; then echo file; else echo readonly; fi
    elif [ "$1" -ef /dev/null ]; then echo null
    elif [ -p "$1" ]; then if [ -n "$log" ]; then echo copied; else echo pipe; fi
    elif [ -S "$1" ]; then echo socket
    elif [ -c "$1" ]; then if [ "$inside" = yes ]; then echo inside; else echo terminal; fi
    else echo other
    fi
}

# Prints behind $2 why a log cannot be gone on with: folder (that is gone), denied or full.
closed() {
    if [ ! -d "${1%/*}/" ]; then echo "$2 folder"
    elif [ -e "$1" ] && [ ! -w "$1" ]; then echo "$2 denied"
    elif [ ! -e "$1" ] && [ ! -w "${1%/*}/" ]; then echo "$2 denied"
    elif crowded "$1"; then echo "$2 full"
    fi
}

# Prints append where descriptor $1 was opened with O_APPEND (02000, open(2)), else anew: its log begins with the launch.
how() {
    flags=$(sed -n 's/^flags:[[:space:]]*0*//p' "$proc/fdinfo/$1" 2>/dev/null)
    case $flags in '' | *[!0-7]*) echo append ;; *) [ $((0$flags & 02000)) -ne 0 ] && echo append || echo anew ;; esac
}

# Prints the name and PID of who reads a pipe from its standard input.
reader() {
    ls -l /proc/[0-9]*/fd/0 2>/dev/null | grep -F -- "-> $1" | while read -r _ _ _ _ _ _ _ _ path _; do
        number=${path#/proc/}
        { read -r name <"/proc/${number%%/*}/comm"; } 2>/dev/null && echo "$name (PID ${number%%/*})"
    done
}

same || { echo "gone yes"; exit; }
mask=022 within=no
while read -r key value _; do
    case $key in
        Uid:) [ "$value" = "$(id -u)" ] || echo "user $(id -nu "$value" 2>/dev/null || echo "$value")" ;;
        Umask:) mask=$value ;;
        Cpus_allowed_list:) cpus=$value ;;
    esac
done <"$proc/status"
# The last one counts: with another root it is a container.
for space in uts ipc user net pid mnt; do
    # What may not be looked at (ptrace(2): another group will do) tells nothing of where it is.
    [ "$proc/ns/$space" -ef "/proc/self/ns/$space" ] || ! readlink "$proc/ns/$space" >/dev/null 2>&1 || echo "space $space"
done
first=$(head -c 4096 "$proc/environ" 2>/dev/null | tr '\000' '\n' | head -n 1)
case $first in [!=]*=*) ;; *) echo "environ none" ;; esac
cwd=$(link "$proc/cwd") cwd=${cwd%.}
[ "$cwd" -ef "$proc/cwd" ] || echo "cwd-gone yes"
printf %s "$cwd" | tell cwd
program=$(tr '\n\000' ' \n' <"$proc/cmdline" | head -n 1)
finds "$proc/cwd" "$proc/environ" "$program" || { printf %s "$program" | tell program; }
for fd in 1 2; do
    to=$(link "$proc/fd/$fd") to=${to%.} kind=$(kind "$proc/fd/$fd" "$to") how=$(how "$fd")
    case $kind in
        deleted) to=${to% (deleted)} how=append ;;
        copied) to=$log how=append ;;
        null | inside) how=append ;;
    esac
    case $kind in pipe) reader "$to" | tell reader ;; inside) within=yes ;; esac
    case $fd in 1) name=out out=$to out_how=$how ;; 2) name=err err=$to err_how=$how ;; esac
    printf %s "$to" | tell "$name"
    echo "$name-kind $kind"
    echo "$name-how $how"
    case $kind in file | deleted | copied) [ "$fd/$to" = "2/$out" ] || closed "$to" "$name-closed" ;; esac
done

# What ends meanwhile shows nothing of itself any more: none of what was told before is true then.
same || { echo "gone yes"; exit; }
[ -n "$folder" ] || exit 0
secrets() { cat "$proc/environ" >"$1/environ" && cat "$proc/cmdline" >"$1/argv" && cat "$1/argv" >"$1/was"; }
hidden=$(hide "$folder") whole=yes
secrets "$hidden" 2>/dev/null || {
    # What a server left behind can fill the memory that is shared.
    [ "$hidden" = "$folder" ] || rm -rf -- "$hidden"
    hidden=$folder
    secrets "$folder" || whole=no
}
if [ "$whole" = yes ] && echo "$mask" >"$folder/umask" &&
    echo "$nice" >"$folder/nice" && echo "$cpus" >"$folder/cpus" && cat "$proc/limits" >"$folder/limits" &&
    scheduled "$pid" >"$folder/scheduled" && cat "$proc/cgroup" >"$folder/cgroup" && cat "$proc/oom_score_adj" >"$folder/oom" &&
    echo "$out_how" >"$folder/out-how" && echo "$err_how" >"$folder/err-how" &&
    ln -sfn -- "$cwd" "$folder/cwd" && ln -sfn -- "$out" "$folder/out" && ln -sfn -- "$err" "$folder/err" &&
    { [ "$within" = no ] && rm -f "$folder/within" || : >"$folder/within"; } && : >"$folder/ticket" && same; then
    watch_over "$folder" "$hidden"
    echo "kept yes"
else
    rm -f -- "$folder/ticket" "$hidden/environ" "$hidden/argv" "$hidden/was"
    exit 1
fi
