# What may hold secrets (environ, argv, was) lies in memory where there is a file system for that, and else beside the claim.
# hide FOLDER: makes the place for it, and prints that.
hide() {
    case $(stat -f -c %T "$memory" 2>/dev/null) in
        tmpfs | ramfs)
            inside=$(private "$memory") && [ "$inside" != "${1%/*}" ] &&
                (umask 077 && mkdir -p "$inside/${1##*/}") 2>/dev/null && echo "$inside/${1##*/}" && return
            ;;
    esac
    echo "$1"
}
# hidden FOLDER: prints where it lies.
hidden() {
    inside=$(ours "$memory/bringup-$(id -u)") && [ -d "$inside/${1##*/}" ] && echo "$inside/${1##*/}" || echo "$1"
}
# young FOLDER: by the time that the machine is up, its action began less than an hour ago. Clocks are set in the middle of
# a restart, by hours or by years: nothing of it is removed for that. One of before the machine was started anew is old.
YOUNG='young() {
    read -r up _ </proc/uptime && began=$(sed -n "s/^up //p" "$1/claim") &&
        [ "${up%.*}" -ge "${began:-0}" ] && [ $((${up%.*} - ${began:-0})) -lt 3540 ]
}'
eval "$YOUNG"
# watch_over FOLDER HIDDEN: an hour after the last sign of an action its environment and command line are removed, also
# where nobody looks again. logind(8) empties /dev/shm when a user's last process ends (RemoveIPC=): this one stays till
# then. It ends within seconds of what it waits for, of its folder, and of a next one for the same action.
watch_over() {
    read -r keeper </proc/sys/kernel/random/uuid && echo "$keeper" >"$1/keeper" || return
    session=setsid
    command -v setsid >/dev/null 2>&1 || session=''
    $session sh -c "$YOUNG"'
        trap "" HUP
        cd /
        while sleep 2 && [ -f "$2/environ" ] && read -r newest <"$1/keeper" && [ "$newest" = "$3" ]; do
            young "$1" || [ -z "$(find "$2/environ" -mmin +59 2>/dev/null)" ] || [ -n "$(find "$1/claim" -mmin -5 2>/dev/null)" ] ||
                rm -f -- "$2/environ" "$2/argv"
        done' keeper "$1" "$2" "$keeper" </dev/null >/dev/null 2>&1 &
}
# laid FOLDER: where what is no secret of a restart is laid that is done, while its new server comes up.
laid() { server=${1##*/} && echo "${1%/*}/.laid.${server%-*}:${server##*-}"; }
# port_of FOLDER HIDDEN: prints the port that the kept command line sets; else that of the old server, or that of its engine
# where an edit took the old one away.
port_of() {
    set=$(sets_port <"$2/argv")
    [ -n "$set" ] || [ ! -f "$2/was" ] || [ -z "$(sets_port <"$2/was")" ] || set=$(sed -n 's/^usual //p' "$1/claim")
    case $set in '' | *[!0-9]*) sed -n 's/^port //p' "$1/claim" ;; *) echo "$set" ;; esac
}
sets_port() { tr '\000' '\n' | sed -n -e 's/^--port=//p' -e '/^--port$/{n;p;}' | tail -n 1; }
# outlast FOLDER PID:START: a new server may fail when it has loaded for long. Until it listens on its port, for an hour at
# most, what another try needs stays open here, in files that are removed (4 its environment, 5 its command line, 6 that of
# the old one): nobody reads more there than in /proc/PID/environ of the server itself. Where it ends before, that is put
# back as after a launch that fails at once. Whoever acts on the new server takes away what is laid, and this ends.
outlast() {
    trap '' HUP
    cd /
    laid=$(laid "$1") looks=0
    while sleep 2 && looks=$((looks + 1)) && [ "$looks" -lt 1800 ]; do
        # Its console has not ended the action yet.
        [ ! -d "$1" ] || continue
        [ -d "$laid" ] || exit
        alive "$2" || { put_back "$1" "$laid"; exit; }
        read -r port <"$laid/port" &&
            grep -q ": [0-9A-F]*:$(printf %04X "$port") [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 && break
    done
    rm -rf -- "$laid"
}
# put_back FOLDER LAID: makes it a restart again that has failed.
put_back() {
    umask 077
    # Who looks meanwhile sees that what lies in memory belongs to something.
    back=${1%/*}/.back.${1##*/}
    [ ! -e "$1" ] && : >"$back" && hidden=$(hide "$1") || return
    [ "$hidden" != "$1" ] || hidden=$2
    rm -f -- "$2/ended" && : >"$2/said"
    # One that was killed has said nothing of its end: how far it was is no reason.
    ! err=$(readlink "$2/err") || [ ! -f "$err" ] || tail -c 2000 "$err" |
        grep -iE 'error|exception|fatal|abort|fault|killed|denied|cannot|not found|no such' | tail -n 3 >"$2/said"
    echo failed >"$2/step" && : >"$2/ticket" && touch "$2/claim" &&
        cat <&5 >"$hidden/argv" && cat <&6 >"$hidden/was" && cat <&4 >"$hidden/environ" && mv -- "$2" "$1" || {
        rm -f -- "$hidden/environ" "$hidden/argv" "$hidden/was" "$back"
        return
    }
    rm -f -- "$back"
    exec 4<&- 5<&- 6<&-
    [ "$hidden" != "$2" ] || hidden=$1
    watch_over "$1" "$hidden"
}
# expire HOME: removes what nobody came for: environments and command lines an hour after the last sign of their action,
# all of an action after seven days, and who has ended a server; where a log began, as long after the last process of that
# launch was seen; and what belongs to no action.
expire() {
    for old in "$1"/*-*; do
        # One whose making or removal was cut off has no claim.
        [ -f "$old/claim" ] || { [ -z "$(find "$old" -prune -type d -mmin +59)" ] || rm -rf -- "$old"; continue; }
        ! young "$old" || continue
        [ -z "$(find "$old/claim" -mtime +6)" ] || { drop "$old" && continue; }
        [ -z "$(find "$old/claim" -mmin +5)" ] ||
            find "$(hidden "$old")" \( -name environ -o -name 'argv*' \) -mmin +59 -exec rm -f {} +
    done
    find "$1" -name '.claim.*' -mtime +0 -exec rm -f {} +
    find "$1/." ! -name . -prune -name '.back.*' -mmin +1 -exec rm -f {} +
    find "$1/." ! -name . -prune -name '.laid.*' -mtime +0 -exec rm -rf {} +
    find "$1/." ! -name . -prune -name '*:*.ended' -mtime +6 -exec rm -f {} +
    for old in $(find "$1/." ! -name . -prune -name '*:*.begins' -mtime +6); do
        old=${old##*/}
        if left "${old%.begins}" >/dev/null; then touch -c "$1/$old"; else rm -f -- "$1/$old"; fi
    done
    inside=$(ours "$memory/bringup-$(id -u)") && [ "$inside" != "$1" ] &&
        for old in "$inside"/*-*; do
            [ -e "$1/.back.${old##*/}" ] || [ -e "$1/${old##*/}" ] || rm -rf -- "$old"
        done
    find "$base/." ! -name . -prune -type f -name 'bringup-*-*.*' -mtime +0 -exec rm -f {} +
} 2>/dev/null
