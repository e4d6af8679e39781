# Arguments: FOLDER TOKEN SIZE. Replaces the kept command line by the words, each ended by NUL, on the standard input.
holds "$1" "$2" && [ -f "$1/ticket" ] || exit 0
hidden=$(hidden "$1")
umask 077
head -c "$3" >"$hidden/argv.new" && mv -f "$hidden/argv.new" "$hidden/argv" && echo kept
