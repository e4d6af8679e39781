# What may hold secrets (environ, argv, was) lies in memory where there is a file system for that, and else beside the claim.
# Containers may have that memory together with others, each with a /tmp of its own, as a service with PrivateTmp= has: what
# lies there is in a corner for each such place.
# in_corner HOME: sets corner, by what a file of HOME is on this machine; fails where it has none. A file: the number of a
# folder may change (overlayfs, inode properties).
in_corner() {
    [ -z "$corner" ] || return 0
    [ -f "$1/.place" ] && inside=$(ours "$memory/bringup-${uid:=$(id -u)}") && [ "$inside" != "$1" ] &&
        corner=$(stat -c %d:%i "$1/.place") && corner=$inside/$corner
} 2>/dev/null
# hide FOLDER: makes the place for it, and prints that.
hide() {
    case $(stat -f -c %T "$memory" 2>/dev/null) in
        tmpfs | ramfs)
            private "$memory" >/dev/null && (umask 077 && touch "${1%/*}/.place") 2>/dev/null && in_corner "${1%/*}" &&
                (umask 077 && mkdir -p "$corner/${1##*/}") 2>/dev/null && echo "$corner/${1##*/}" && return
            ;;
    esac
    echo "$1"
}
# hidden FOLDER: prints where it lies.
hidden() { in_corner "${1%/*}" && [ -d "$corner/${1##*/}" ] && echo "$corner/${1##*/}" || echo "$1"; }
# young FOLDER: by the time that the machine is up, its action began less than an hour ago. Clocks are set in the middle of
# a restart, by hours or by years: nothing of it is removed for that. One of before the machine was started anew is old.
YOUNG='young() {
    read -r up _ </proc/uptime && began=$(sed -n "s/^up //p" "$1/claim") &&
        [ "${up%.*}" -ge "${began:-0}" ] && [ $((${up%.*} - ${began:-0})) -lt 3540 ]
}'
eval "$YOUNG"
# watch_over FOLDER HIDDEN: an hour after the last sign of an action its environment and command line are removed, also
# where nobody looks again. logind(8) empties /dev/shm when a user's last process ends (RemoveIPC=): this one stays till
# then. It ends within seconds of what it waits for, of its folder, and of a next one for the same action. Until then
# the time of the folder in memory says to other places that it is needed.
watch_over() {
    read -r keeper </proc/sys/kernel/random/uuid && echo "$keeper" >"$1/keeper" || return
    session=setsid
    command -v setsid >/dev/null 2>&1 || session=''
    $session sh -c "$YOUNG"'
        trap "" HUP
        cd /
        while sleep 2 && [ -f "$2/environ" ] && read -r newest <"$1/keeper" && [ "$newest" = "$3" ]; do
            [ "$1" = "$2" ] || touch -c "$2"
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
        # Until its console has ended the action that lies where it always did.
        lies=$laid
        [ ! -d "$1" ] || lies=$1
        [ -d "$lies" ] || exit
        if alive "$2"; then
            # What becomes of one that has come up is no failure of its restart any more.
            read -r port <"$lies/port" && grep -q ": [0-9A-F]*:$(printf %04X "$port") [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 && break
        elif [ "$lies" = "$laid" ] || { unattended "$1" && mv -- "$1" "$laid"; }; then
            put_back "$1" "$laid"
            exit
        fi
    done
    rm -rf -- "$laid"
}
# unattended FOLDER: its launch was the last step, and nobody has renewed its claim for a minute.
unattended() { read -r step <"$1/step" && [ "$step" = launched ] && [ "$(age "$1/claim")" -ge 60 ]; } 2>/dev/null
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
    in_corner "$1"
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
    [ -z "$corner" ] || for old in "$corner"/*-*; do
        [ -e "$1/.back.${old##*/}" ] || [ -e "$1/${old##*/}" ] || rm -rf -- "$old"
    done
    others "$1"
    # Marks: what mktemp has made of PID and START, and nothing stands in it but what claim.sh writes. Others' are theirs.
    find "$base/." ! -name . -prune -type f -name 'bringup-[0-9]*-[0-9]*.??????' ! -name 'bringup-*[!0-9-]*.??????' \
        ! -name 'bringup-*-*-*' ! -name '*.*[!A-Za-z0-9]*' -user "${uid:=$(id -u)}" -mtime +0 \
        \( -size 0 -o -exec grep -q '^action ' {} \; \) -exec rm -f {} +
} 2>/dev/null
# others HOME: removes what other places have left in memory: environments and command lines an hour after the last sign of
# whoever watches over them there, all after seven days. Nobody can see from here whether those places are gone.
others() {
    inside=${corner%/*}
    [ -n "$inside" ] || inside=$(ours "$memory/bringup-${uid:=$(id -u)}") && [ "$inside" != "$1" ] || return
    for other in "$inside"/*; do
        [ "$other" != "$corner" ] && [ -d "$other" ] || continue
        find "$other" -type f \( -name environ -o -name 'argv*' \) -mmin +60 -exec sh -c '
            for each; do
                each=${each%/*}
                [ -z "$(find "$each" -prune -mmin +60)" ] || rm -f -- "$each/environ" "$each"/argv*
            done' others {} +
        find "$other" -type d -name '*-*' -mtime +6 -exec rm -rf {} +
        set -- "$other"/*
        [ -e "$1" ] || rmdir "$other"
    done
}
