# Arguments: PID START ACTION TOKEN LEASE KEEP WHO ABOUT COMMAND ABOVE RESPAWNS. Begins an action on a server unless another
# one is under way. ABOVE is PID:START of each process that may start the server again, RESPAWNS yes where one does.
# An action that gave no sign for LEASE seconds was cut off and can be taken over, one of the same TOKEN always; what it
# kept stays with KEEP = yes. COMMAND starts the server again, or is the place for it. Prints "claimed" and the folder
# (hexadecimal); "busy", its age, and what is under way; or "nowhere", a folder (hexadecimal) and whose that is.
server=$1-$2 action=$3 token=$4 lease=$5 keep=$6 who=$7 about=$8
umask 077
hexadecimal() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
owner() { set -- $(LC_ALL=C ls -ldn "$1" 2>/dev/null) && echo "${3:-}"; }
name() { id -nu "$1" 2>/dev/null || echo "$1"; }
home=$(place) || {
    home=$base/bringup-$(id -u) whose=$(owner "$base/bringup-$(id -u)")
    echo "nowhere $(hexadecimal "$home") $([ -z "$whose" ] || name "$whose")"
    exit
}
expire "$home"
folder=$home/$server
fresh=$home/.claim.$token.$$
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
        head -c 2000 "$theirs" 2>/dev/null
        return
    done
    return 1
}
elsewhere && exit
made=no
mkdir "$folder" 2>/dev/null && made=yes
read -r boot </proc/sys/kernel/random/boot_id
read -r up _ </proc/uptime
ticks=$((${up%.*}${up#*.} * $(getconf CLK_TCK 2>/dev/null || echo 100) / 100))
printf 'token %s\naction %s\nboot %s\nticks %s\nwho %s\nabout %s\ncommand %s\nabove %s\nrespawns %s\n' \
    "$token" "$action" "$boot" "$ticks" "$who" "$about" "$9" "${10}" "${11}" >"$fresh"
# A hard link is made whole or not at all, and by one only.
if ! ln "$fresh" "$folder/claim" 2>/dev/null; then
    if ! grep -qx "token $token" "$folder/claim" && [ "$(age "$folder/claim")" -lt "$lease" ]; then
        echo "busy $(age "$folder/claim")"
        cat "$folder/claim"
        rm -f "$fresh"
        exit
    fi
    mv -f "$fresh" "$folder/claim"
fi
rm -f "$fresh"
{ ! read -r mark <"$folder/mark" || rm -f -- "$mark"; } 2>/dev/null
# mktemp makes a new file, never one that is there already or that a link leads to.
mark=$(mktemp "$base/bringup-$server.XXXXXX") && printf '%s\n' "$mark" >"$folder/mark" &&
    printf 'action %s\nwho %s\n' "$action" "$who" >"$mark" && chmod 644 "$mark" || { drop "$folder"; echo "nowhere"; exit; }
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
echo "claimed $(hexadecimal "$folder")"
