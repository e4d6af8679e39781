# Arguments: FOLDER TOKEN SIZE. Replaces the kept command line by the words, each ended by NUL, on the standard input.
# Prints kept, or missing where there is no program of the first one's name for the server.
holds "$1" "$2" && [ -f "$1/ticket" ] || exit 0
hidden=$(hidden "$1")
umask 077
head -c "$3" >"$hidden/argv.new" || exit
program=$(tr '\000' '\n' <"$hidden/argv.new" | head -n 1)
finds "$1/cwd" "$hidden/environ" "$program" || { rm -f -- "$hidden/argv.new"; echo missing; exit; }
mv -f "$hidden/argv.new" "$hidden/argv" && echo kept
