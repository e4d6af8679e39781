# Arguments: FOLDER TOKEN. Keeps the command line of the old server, by which the one that its launcher starts is known.
# Prints kept, or lost where another action took over.
folder=$1 token=$2 server=${1##*/}
holds "$folder" "$token" || { echo lost; exit; }
umask 077
hidden=$(hide "$folder")
cat "/proc/${server%-*}/cmdline" >"$hidden/was" && alive "${server%-*}:${server##*-}" && echo kept || rm -f "$hidden/was"
