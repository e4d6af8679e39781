# Arguments: PID START KEEP. Tells what a process was launched with, one fact a line: its key, a blank, a value; values
# that may hold any byte are hexadecimal. With KEEP = yes, what a second launch needs is kept in a private folder on this
# machine: the environment can hold secrets and does not leave it.
pid=$1 wanted=$2 keep=$3 proc=/proc/$1
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
    elif [ -p "$1" ]; then echo pipe
    elif [ -S "$1" ]; then echo socket
    elif [ -c "$1" ]; then echo terminal
    else echo other
    fi
}

# Prints the name and PID of who reads a pipe from its standard input.
reader() {
    ls -l /proc/[0-9]*/fd/0 2>/dev/null | grep -F -- "-> $1" | while read -r _ _ _ _ _ _ _ _ path _; do
        number=${path#/proc/}
        { read -r name <"/proc/${number%%/*}/comm"; } 2>/dev/null && echo "$name (PID ${number%%/*})"
    done
}

same || { echo "gone yes"; exit; }
mask=022
while read -r key value _; do
    case $key in
        Uid:) [ "$value" = "$(id -u)" ] || echo "user $(id -nu "$value" 2>/dev/null || echo "$value")" ;;
        Umask:) mask=$value ;;
    esac
done <"$proc/status"
for space in mnt pid; do
    [ "$proc/ns/$space" -ef "/proc/self/ns/$space" ] || echo "space $space"
done
first=$(head -c 4096 "$proc/environ" 2>/dev/null | tr '\000' '\n' | head -n 1)
case $first in [!=]*=*) ;; *) echo "environ none" ;; esac
cwd=$(link "$proc/cwd") cwd=${cwd%.}
[ "$cwd" -ef "$proc/cwd" ] || echo "cwd-gone yes"
printf %s "$cwd" | tell cwd
out=$(link "$proc/fd/1") out=${out%.}
err=$(link "$proc/fd/2") err=${err%.}
printf %s "$out" | tell out
printf %s "$err" | tell err
echo "out-kind $(kind "$proc/fd/1" "$out")"
echo "err-kind $(kind "$proc/fd/2" "$err")"
case $out in pipe:*) reader "$out" | tell reader ;; esac

[ "$keep" = yes ] || exit 0
base=${XDG_RUNTIME_DIR:-/tmp}
[ -d "$base" ] && [ -w "$base" ] || base=/tmp
# What a lost connection left behind, by the same user.
find "$base" -maxdepth 1 -type d -name 'bringup-launch.*' -user "$(id -u)" -mmin +60 -exec rm -rf {} + 2>/dev/null
folder=$(mktemp -d "$base/bringup-launch.XXXXXXXXXX") || exit
if cat "$proc/environ" >"$folder/environ" && cat "$proc/cmdline" >"$folder/argv" && echo "$mask" >"$folder/umask" &&
    ln -s -- "$cwd" "$folder/cwd" && ln -s -- "$out" "$folder/out" && ln -s -- "$err" "$folder/err" && same; then
    printf %s "$folder" | tell folder
else
    rm -rf -- "$folder"
    exit 1
fi
