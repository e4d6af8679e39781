# Arguments: FOLDER TOKEN. Prints "running PID:START" of an old server that still runs, "again PID:START" of a new one that
# was started since the action began (it is written down), or lost.
folder=$1 token=$2
holds "$folder" "$token" || { echo lost; exit; }
found=$(against "$folder") || exit 0
umask 077
case $found in again*) printf '%s\n' "${found#again }" >"$folder/new.new" && mv -f "$folder/new.new" "$folder/new" ;; esac
printf '%s\n' "$found"
