# Arguments: FOLDER TOKEN NEW WHO. Goes on with the action that TOKEN began and does not follow any more: it is NEW's from
# now on, and WHO is told to others. Prints held, lost where another console did so before, or launches right now, unseen
# where it was begun in another PID namespace, or unwritten.
folder=$1 token=$2 new=$3 who=$4
umask 077
fresh=${folder%/*}/.claim.$new.$$
here "$folder" || { echo unseen; exit; }
launching "$folder" >/dev/null && { echo lost; exit; }
taken=2
# cat says in words why it cannot write, printf does not.
{ printf 'token %s\nwho %s\n' "$new" "$who" && grep -v -e '^token ' -e '^who ' -e '^left ' "$folder/claim"; } 2>/dev/null |
    cat >"$fresh" && { succeed "$fresh" "$folder" "$token"; taken=$?; }
case $taken in 0) echo held ;; 1) echo lost ;; *) echo unwritten ;; esac
rm -f -- "$fresh"
