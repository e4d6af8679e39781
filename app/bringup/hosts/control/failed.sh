# Arguments: FOLDER TOKEN STATUS SIZE. Writes down that a launch has failed, with exit status STATUS ("" where it is not
# known) and with its last words, SIZE bytes on the standard input.
folder=$1 token=$2
holds "$folder" "$token" || { echo lost; exit; }
umask 077
head -c "$4" >"$folder/said"
rm -f "$folder/ended"
[ -z "$3" ] || printf '%s\n' "$3" >"$folder/ended"
echo failed >"$folder/step" && echo held
