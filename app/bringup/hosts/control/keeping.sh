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
# watch_over FOLDER HIDDEN: an hour after the last sign of an action its environment and command line are removed, also
# where nobody looks again. logind(8) empties /dev/shm when a user's last process ends (RemoveIPC=): this one stays till then.
watch_over() {
    session=setsid
    command -v setsid >/dev/null 2>&1 || session=''
    $session sh -c '
        trap "" HUP
        cd /
        while sleep 5 && [ -f "$2/environ" ]; do
            [ -z "$(find "$2/environ" -mmin +59 2>/dev/null)" ] || [ -n "$(find "$1/claim" -mmin -5 2>/dev/null)" ] ||
                rm -f -- "$2/environ" "$2/argv"
        done' keeper "$1" "$2" </dev/null >/dev/null 2>&1 &
}
# expire HOME: removes what nobody came for: environments and command lines an hour after the last sign of their action,
# all of an action after seven days; and what belongs to no action.
expire() {
    for old in "$1"/*-*; do
        [ -f "$old/claim" ] || continue
        [ -z "$(find "$old/claim" -mtime +6)" ] || { drop "$old" && continue; }
        [ -z "$(find "$old/claim" -mmin +5)" ] ||
            find "$(hidden "$old")" \( -name environ -o -name 'argv*' \) -mmin +59 -exec rm -f {} +
    done
    find "$1" -name '.claim.*' -mtime +0 -exec rm -f {} +
    inside=$(ours "$memory/bringup-$(id -u)") && [ "$inside" != "$1" ] &&
        for old in "$inside"/*-*; do [ -e "$1/${old##*/}" ] || rm -rf -- "$old"; done
    find "$base/." ! -name . -prune -type f -name 'bringup-*-*.*' -mtime +0 -exec rm -f {} +
} 2>/dev/null
