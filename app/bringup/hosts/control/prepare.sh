# Arguments: FOLDER TOKEN CWD LOG NAME COMMAND SIZE. Keeps what launch.sh needs for a shell command: the environment of this
# login with the SIZE bytes of variables, each ended by NUL, on the standard input, and the limits of this very shell.
# Without a LOG the target NAME gets one of its own. Prints "kept" and the log (hexadecimal), or what stands against it:
#   lost                  another action took over
#   cwd PATH, log PATH    (hexadecimal) no folder that we can enter, no file that we can write to, and why: missing (its
#                         folder), folder (it is one), odd (no plain file), denied, full (its file system)
#   running PID:START     what was launched as NAME before
# Not every service has a HOME; its login has one all the same (passwd(5)).
if [ -z "${HOME:-}" ]; then
    HOME=$(getent passwd "$(id -u)" || grep "^[^:]*:[^:]*:$(id -u):" /etc/passwd) HOME=${HOME%:*} HOME=${HOME##*:}
fi 2>/dev/null
folder=$1 token=$2 cwd=${3:-$HOME} log=$4 name=$5 command=$6 size=$7
umask 077

hexadecimal() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
# The tilde of a configured path means the home of this login.
home() { case $1 in '~' | '~/'*) printf %s. "$HOME${1#?}" ;; *) printf %s. "$1" ;; esac; }
# A server without a log cannot be watched, and its last words would be lost. Homes are often shared: each node has its own.
own_log() {
    state=${XDG_STATE_HOME:-}
    case $state in /*) ;; *) state=$HOME/.local/state ;; esac
    for state in "$state/bringup" "${folder%/*}"; do
        log=$state/$name.$(uname -n).log
        mkdir -p "$state" 2>/dev/null && (: >>"$log") 2>/dev/null && return
    done
}
# Prints why a file cannot be written to; nothing where it can.
closed() {
    if [ -d "$1" ]; then echo folder
    elif [ ! -d "${1%/*}/" ]; then echo missing
    elif [ -c "$1" ]; then [ -w "$1" ] || echo denied
    elif [ -e "$1" ] && [ ! -f "$1" ]; then echo odd
    elif ! (umask 022 && : >>"$1") 2>/dev/null; then echo denied
    elif [ -f "$1" ] && crowded "$1"; then echo full
    fi
}

holds "$folder" "$token" || { echo lost; exit; }
last=${folder%/*}/$name.launched
# A restart comes here before its stop.
case ${folder##*/} in
    0-*) { read -r former <"$last"; } 2>/dev/null && former=$(left "$former") && { echo "running $former"; exit; } ;;
esac
cwd=$(home "$cwd") cwd=${cwd%.}
cd -P -- "$cwd" 2>/dev/null || {
    [ -d "$cwd" ] && why=denied || why=missing
    echo "cwd $(hexadecimal "$cwd") $why"
    exit
}
if [ -z "$log" ]; then own_log; else log=$(home "$log") log=${log%.}; fi
case $log in /*) ;; *) log=$PWD/$log ;; esac
why=$(closed "$log")
[ -z "$why" ] || { echo "log $(hexadecimal "$log") $why"; exit; }
how=append
[ -n "$4" ] || how=own
hidden=$(hide "$folder")
# Of two of the same name the last one counts. The path of the shell is its own, whatever PATH will be.
{ cat /proc/$$/environ && head -c "$size"; } >"$hidden/environ" &&
    printf '%s\000-c\000%s\000' "$(command -v sh)" "$command" >"$hidden/argv" || exit
# By it a server is known that somebody else starts again in the meantime.
case ${folder##*/} in 0-*) ;; *) server=${folder##*/} && cat "/proc/${server%-*}/cmdline" >"$hidden/was" 2>/dev/null ;; esac
echo 022 >"$folder/umask"
identify $$ && echo "$nice" >"$folder/nice"
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$$/status >"$folder/cpus"
scheduled $$ >"$folder/scheduled"
cat /proc/$$/limits >"$folder/limits"
cat /proc/$$/cgroup >"$folder/cgroup"
cat /proc/$$/oom_score_adj >"$folder/oom"
echo "$how" >"$folder/out-how"
echo "$how" >"$folder/err-how"
ln -sfn -- "$last" "$folder/last"
ln -sfn -- "$PWD" "$folder/cwd" && ln -sfn -- "$log" "$folder/out" && ln -sfn -- "$log" "$folder/err" &&
    : >"$folder/ticket" && watch_over "$folder" "$hidden" && echo "kept $(hexadecimal "$log")"
