# Stands before the scripts of launchers.toml.
# trusted PID: tells whether this login or root runs a process. What anybody else's tells of itself (a folder, a socket) is
# given to no program here: tmux obeys its server, Python imports from its folder, and root would do what they say.
trusted() {
    awk -v own="$(id -u)" '
        /^Uid:/ { for (i = 2; i <= 5; i++) if ($i != 0 && $i != own) exit; trusted = 1 }
        END { exit !trusted }' "/proc/$1/status" 2>/dev/null && return
    echo 'it belongs to another user' >&2
    return 1
}
# written PID...: prints the file that these processes write: the one that they have opened, else their standard output.
written() {
    for each; do ls -l "/proc/$each/fd/"; done 2>/dev/null | awk '
        substr($0, 2, 2) ~ /w/ && match($0, / [0-9]+ -> \//) && !/ \(deleted\)$/ {
            to = substr($0, RSTART + RLENGTH - 1); split(substr($0, RSTART), part, " ")
            if (to ~ /^\/(dev|proc|sys)\//) next
            if (part[1] == 1) output = to
            else if (part[1] > 2 && !(to in seen)) { seen[to]; number++; opened = to }
        }
        END { if (number == 1) print opened; else if (!number && output != "") print output }'
}
# children PID: prints the processes that it has started.
children() {
    grep -l "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status 2>/dev/null | while IFS=/ read -r _ _ each _; do echo "$each"; done
}
# goes STREAM FILE: tells where a stream (out, err) goes; o: we may read it.
goes() {
    [ -f "$2" ] || return 0
    if [ -r "$2" ]; then echo "$1=o:$2"; else echo "$1=:$2"; fi
}
