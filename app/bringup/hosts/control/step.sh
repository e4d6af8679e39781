# Arguments: FOLDER TOKEN STEP [PID:START...]. Writes down how far an action is, and which processes are the server's.
# Prints held, or lost where another action took over.
folder=$1 token=$2 step=$3
shift 3
holds "$folder" "$token" || { echo lost; exit; }
umask 077
[ $# -eq 0 ] || { printf '%s\n' "$@" >"$folder/members.new" && mv -f "$folder/members.new" "$folder/members"; }
printf '%s\n' "$step" >"$folder/step.new" && mv -f "$folder/step.new" "$folder/step" && echo held
