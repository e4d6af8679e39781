# at_prompt PID: a shell that waits at its terminal for a command. It is then in the foreground there, alone in its group,
# and asleep; that may be so for a moment between two commands of a loop, too, but not at two looks.
at_prompt() {
    in_front "$1" && { sleep 0.2 2>/dev/null || sleep 1; } && in_front "$1"
}
in_front() {
    identify "$1" && [ "$state" = S ] && [ "$tpgid" = "$pgid" ] || return 1
    group=$pgid
    for neighbour in /proc/[0-9]*; do
        [ "${neighbour#/proc/}" != "$1" ] && identify "${neighbour#/proc/}" && [ "$pgid" = "$group" ] && [ "$state" != Z ] && return 1
    done
    return 0
}
