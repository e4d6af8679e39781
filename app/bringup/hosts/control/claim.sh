# Arguments: PID START ACTION TOKEN LEASE KEEP WHO [LINE]... Begins an action on a server unless another one is under way.
# Each LINE is a key and what is written down of the server: engine; port, empty where it is not known; usual, the port that
# its engine takes where none is set; about, it in words; command, that starts it again, or the place for it; above, PID:START
# of each process that may start it again; respawns, yes where one does; launcher, what that is in words; says, the command
# that prints the last words of what it has started; lives, the one that tells whether that lives. An action that gave no sign
# for LEASE seconds was cut off and can be taken over, one of the same TOKEN always; what it kept stays with KEEP = yes. Prints
# "claimed" and the folder (hexadecimal); "busy", its age, and what is under way; or "nowhere", a folder (hexadecimal) and whose
# that is.
server=$1-$2 action=$3 token=$4 lease=$5 keep=$6 who=$7
shift 7
umask 077
hexadecimal() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
owner() { set -- $(LC_ALL=C ls -ldn "$1" 2>/dev/null) && echo "${3:-}"; }
name() { id -nu "$1" 2>/dev/null || echo "$1"; }
# Other users' folders are closed to us. What they act on they mark in the open, with a file of their own. Only root and
# the server's owner can act on it, so nobody else's mark counts.
elsewhere() {
    of=$(sed -n 's/^Uid:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/${server%-*}/status" 2>/dev/null)
    for theirs in "$base/bringup-$server".*; do
        [ -f "$theirs" ] && [ ! -L "$theirs" ] || continue
        user=$(owner "$theirs")
        [ "$user" != "$(id -u)" ] || continue
        case $user in 0 | "${of:-0}") ;; *) continue ;; esac
        passed=$(age "$theirs")
        [ "$passed" -lt "$lease" ] || continue
        echo "busy $passed"
        echo "user $(name "$user")"
        # It may be gone by now: whoever gives way takes it along.
        head -c 2000 "$theirs" 2>/dev/null
        return 0
    done
    return 1
}
home=$(place) || {
    home=$base/bringup-$(id -u)
    whose=$(owner "$home")
    elsewhere && exit
    # Why there is none, mkdir says.
    [ -n "$whose" ] || mkdir "$home"
    echo "nowhere $(hexadecimal "$home") $([ -z "$whose" ] || name "$whose")"
    exit
}
expire "$home"
folder=$home/$server
fresh=$home/.claim.$token.$$
elsewhere && exit
# free: nobody else acts on it from this login.
free() {
    theirs=$(sed -n 's/^token //p' "$folder/claim")
    { [ "$theirs" = "$token" ] || [ "$(age "$folder/claim")" -ge "$lease" ] || grep -qx 'left yes' "$folder/claim"; } &&
        ! launching "$folder" >/dev/null && ! out_of_sight "$folder"
}
busy() { echo "busy $(age "$folder/claim")" && cat "$folder/claim"; }
made=no
mkdir "$folder" 2>/dev/null && made=yes
read -r boot </proc/sys/kernel/random/boot_id
read -r up _ </proc/uptime
ticks=$((${up%.*}${up#*.} * $(getconf CLK_TCK 2>/dev/null || echo 100) / 100))
printf '%s\n' "token $token" "action $action" "boot $boot" "up ${up%.*}" "ticks $ticks" "who $who" \
    "pidns $(readlink /proc/self/ns/pid 2>/dev/null)" "$@" | cat >"$fresh" && mkdir -p "$folder" || {
    rm -f "$fresh"
    rmdir "$folder" 2>/dev/null
    # What was written down while there was room is true all the same.
    if [ -f "$folder/claim" ] && ! free; then busy; else echo "nowhere"; fi
    exit
}
# A hard link is made whole or not at all, and by one only.
taken=0
ln "$fresh" "$folder/claim" 2>/dev/null || {
    if [ ! -f "$folder/claim" ]; then ln "$fresh" "$folder/claim" || { [ -f "$folder/claim" ] && taken=1 || taken=2; }
    elif free; then succeed "$fresh" "$folder" "$theirs" || taken=$?
    else taken=1
    fi
}
rm -f "$fresh"
case $taken in 1) busy; exit ;; 2) rmdir "$folder" 2>/dev/null; echo "nowhere"; exit ;; esac
{ ! read -r mark <"$folder/mark" || rm -f -- "$mark"; } 2>/dev/null
# mktemp makes a new file, never one that is there already or that a link leads to.
mark=$(mktemp "$base/bringup-$server.XXXXXX") && printf '%s\n' "$mark" >"$folder/mark" &&
    printf 'action %s\nwho %s\n' "$action" "$who" >"$mark" && chmod 644 "$mark" ||
    { rm -f -- "$mark"; drop "$folder"; echo "nowhere"; exit; }
# Whoever marked it at the same moment sees ours, too: then both give way.
if elsewhere; then
    rm -f -- "$mark"
    [ "$made" = no ] || drop "$folder"
    exit
fi
if [ "$keep" != yes ]; then
    hidden=$(hidden "$folder")
    [ "$hidden" = "$folder" ] || rm -rf -- "$hidden"
    for file in "$folder"/*; do case ${file##*/} in claim | mark) ;; *) rm -rf -- "$file" ;; esac; done
fi
# A launch that is acted on now is not to be tried again as it was.
for laid in "$home"/.laid.*; do ! grep -qx "${server%-*}:${server##*-}" "$laid/new" || rm -rf -- "$laid"; done 2>/dev/null
echo "claimed $(hexadecimal "$folder")"
