# ours FOLDER: prints it where it is a folder of this user, closed to others. Anybody may make something of any name in /tmp.
ours() {
    uid=$(id -u)
    set -- "$1" $(LC_ALL=C ls -ldn "$1" 2>/dev/null)
    case $2/$4 in drwx------*/"$uid") echo "$1" ;; *) return 1 ;; esac
}
# private BASE: prints this user's folder in BASE, and makes it; fails where there can be none.
private() {
    (umask 077 && mkdir "$1/bringup-$(id -u)") 2>/dev/null
    ours "$1/bringup-$(id -u)"
}
# place: prints the folder in which this user's actions are written down. It is the same for every login, whatever its
# TMPDIR and XDG_RUNTIME_DIR: two consoles have to see each other.
place() { private "$base"; }
# holds FOLDER TOKEN: the action in FOLDER is still the one that this token began; says so by its time, to others too.
holds() {
    [ -n "$2" ] && grep -qx "token $2" "$1/claim" 2>/dev/null && touch "$1/claim" || return 1
    { read -r mark <"$1/mark" && [ -f "$mark" ] && [ ! -L "$mark" ] && touch -c "$mark"; } 2>/dev/null
    return 0
}
# age FILE: seconds since it was changed; a day where that lies ahead, for the clock was set back.
age() {
    passed=$(($(date +%s) - $(date -r "$1" +%s 2>/dev/null || date +%s)))
    if [ "$passed" -lt -5 ]; then echo 86400; elif [ "$passed" -lt 0 ]; then echo 0; else echo "$passed"; fi
}
# drop FOLDER: an action is over, and all that was kept of it is removed. Without the ticket nothing that was begun can
# launch any more.
drop() {
    rm -f -- "$1/ticket"
    hidden=$(hidden "$1")
    ! read -r mark <"$1/mark" || rm -f -- "$mark"
    rm -rf -- "$hidden" "$1"
} 2>/dev/null
# alive PID:START: that very process runs.
alive() { identify "${1%:*}" && [ "$start" = "${1#*:}" ] && [ "$state" != Z ] && [ "$state" != X ]; }
# again FOLDER: prints a process with the old server's command line and directory that was started since the action in
# FOLDER began.
again() {
    was=$(hidden "$1")/was
    [ -s "$was" ] || return 1
    since=$(sed -n 's/^ticks //p' "$1/claim")
    first=$(head -c 4096 "$was" | tr '\000' '\n' | head -n 1)
    for line in $(grep -lF -e "$first" /proc/[0-9]*/cmdline 2>/dev/null); do
        # Through a pipe: cmp believes the size of a file, which is 0 in /proc.
        cat "$line" 2>/dev/null | cmp -s - "$was" || continue
        other=${line#/proc/} other=${other%/cmdline}
        [ "/proc/$other/cwd" -ef "$1/cwd" ] || continue
        identify "$other" && [ "$state" != Z ] && [ "$start" -gt "${since:-0}" ] && echo "$other:$start" && return
    done
    return 1
}
