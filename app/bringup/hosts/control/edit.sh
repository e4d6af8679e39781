# Arguments: FOLDER TOKEN SIZE. Replaces the kept command line by the words, each ended by NUL, on the standard input.
holds "$1" "$2" && [ -f "$1/ticket" ] || exit 0
umask 077
head -c "$3" >"$1/argv.new" && mv -f "$1/argv.new" "$1/argv" && echo kept
