# Arguments: FOLDER TOKEN NEW WHO. Goes on with the action that TOKEN began and does not follow any more: it is NEW's from
# now on, and WHO is told to others. Prints held, or lost where another console did so before, or launches right now.
folder=$1 token=$2 new=$3 who=$4
umask 077
fresh=${folder%/*}/.claim.$new.$$
launching "$folder" >/dev/null && { echo lost; exit; }
{ printf 'token %s\nwho %s\n' "$new" "$who" && grep -v -e '^token ' -e '^who ' -e '^left ' "$folder/claim"; } >"$fresh" &&
    succeed "$fresh" "$folder" "$token" && echo held || echo lost
rm -f -- "$fresh"
