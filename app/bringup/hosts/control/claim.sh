# Arguments: PID START ACTION TOKEN LEASE KEEP WHO ABOUT COMMAND. Begins an action on a server unless another one is under way.
# An action that gave no sign for LEASE seconds was cut off and can be taken over, one of the same TOKEN always; what it
# kept stays with KEEP = yes. COMMAND starts the server again, or is the place for it. Prints "claimed" and the folder (hexadecimal), or "busy", and what is under way.
server=$1-$2 action=$3 token=$4 lease=$5 keep=$6 who=$7 about=$8
umask 077
home=$(place) || { echo nowhere; exit; }
folder=$home/$server
fresh=$home/.claim.$token.$$
mkdir "$folder" 2>/dev/null
read -r boot </proc/sys/kernel/random/boot_id
read -r up _ </proc/uptime
ticks=$((${up%.*}${up#*.} * $(getconf CLK_TCK 2>/dev/null || echo 100) / 100))
printf 'token %s\naction %s\nboot %s\nticks %s\nwho %s\nabout %s\ncommand %s\n' \
    "$token" "$action" "$boot" "$ticks" "$who" "$about" "$9" >"$fresh"
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
if [ "$keep" != yes ]; then
    for file in "$folder"/*; do [ "$file" = "$folder/claim" ] || rm -rf -- "$file"; done
fi
printf 'claimed ' && printf %s "$folder" | od -An -v -tx1 | tr -d ' \n' && echo
