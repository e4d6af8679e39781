# place: prints the private folder of this user in which actions are kept, and makes it; fails where there can be none.
# /run/user/UID goes with its user's last session (pam_systemd(8)), and with it what has to be found after a lost
# connection: it serves only where that user lingers.
place() {
    base=${TMPDIR:-/tmp}
    if [ -e "/var/lib/systemd/linger/$(id -un)" ] && [ -d "$XDG_RUNTIME_DIR" ] && [ -w "$XDG_RUNTIME_DIR" ]; then
        base=$XDG_RUNTIME_DIR
    fi
    uid=$(id -u)
    umask 077
    mkdir "$base/bringup-$uid" 2>/dev/null
    # Anybody may make something of this name in /tmp: it must be a folder, ours, and closed to others.
    set -- $(LC_ALL=C ls -ldn "$base/bringup-$uid" 2>/dev/null)
    case $1/$3 in drwx------*/"$uid") echo "$base/bringup-$uid" ;; *) return 1 ;; esac
}
# holds FOLDER TOKEN: the action in FOLDER is still the one that this token began; says so by its time.
holds() { [ -n "$2" ] && grep -qx "token $2" "$1/claim" 2>/dev/null && touch "$1/claim"; }
# age FILE: seconds since it was changed.
age() { echo $(($(date +%s) - $(date -r "$1" +%s 2>/dev/null || date +%s))); }
# alive PID:START: that very process runs.
alive() { identify "${1%:*}" && [ "$start" = "${1#*:}" ] && [ "$state" != Z ] && [ "$state" != X ]; }
# again FOLDER: prints a process with the old server's command line and directory that was started since the action in
# FOLDER began.
again() {
    [ -s "$1/was" ] || return 1
    since=$(sed -n 's/^ticks //p' "$1/claim")
    first=$(head -c 4096 "$1/was" | tr '\000' '\n' | head -n 1)
    for line in $(grep -lF -e "$first" /proc/[0-9]*/cmdline 2>/dev/null); do
        # Through a pipe: cmp believes the size of a file, which is 0 in /proc.
        cat "$line" 2>/dev/null | cmp -s - "$1/was" || continue
        other=${line#/proc/} other=${other%/cmdline}
        [ "/proc/$other/cwd" -ef "$1/cwd" ] || continue
        identify "$other" && [ "$state" != Z ] && [ "$start" -gt "${since:-0}" ] && echo "$other:$start" && return
    done
    return 1
}
