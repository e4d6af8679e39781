# Arguments: FOLDER TOKEN STEP [PID:START...]. Writes down how far an action is, and which processes are the server's.
# Prints held, lost where another action took over, or unwritten.
folder=$1 token=$2 step=$3
shift 3
holds "$folder" "$token" || { echo lost; exit; }
umask 077
# It is tried anew: what came of the last time is no answer any more.
[ "$step" != starting ] || rm -f "$folder/new" "$folder/ended" "$folder/said"
# cat says in words why it cannot write, printf does not.
keep() { cat >"$folder/$1.new" && mv -f "$folder/$1.new" "$folder/$1"; }
{ [ $# -eq 0 ] || printf '%s\n' "$@" | keep members; } && printf '%s\n' "$step" | keep step && echo held || echo unwritten
