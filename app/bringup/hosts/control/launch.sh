# Arguments: FOLDER SECONDS. Starts what capture.sh kept in FOLDER, removes the folder, and watches for SECONDS. Prints
# "started PID START", and "ended STATUS" with the last words (hexadecimal) where it ended meanwhile.
folder=$1 looks=$(($2 * 10))
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 143' HUP INT TERM

# Turns the words of a file, each ended by NUL, into shell commands that put them into $word one by one, then do $2.
# Bytes travel as octal digits: no word can mean anything to the shell, and line ends and empty words stay what they are.
words() {
    od -An -v -to1 "$1" | tr -d ' \n' | sed 's/.../\\0&/g; s/\\0000/@\
/g' | sed -n "s/^\(.*\)@\$/word=\$(printf %b '\1.'); word=\${word%.}; $2/p"
}

set --
eval "$(words "$folder/environ" 'case $word in [!=]*=*) set -- "$@" "$word" ;; esac')"
program=''
eval "$(words "$folder/argv" 'program=${program:-$word}; set -- "$@" "$word"')"
mask=$(cat "$folder/umask")
rm -f -- "$folder/environ" "$folder/argv"
# env would take such a name for one more variable.
case $program in '' | *=* | -*) echo "unfit $program"; exit ;; esac

# A shell makes what it starts in the background deaf for SIGINT and SIGQUIT; newer coreutils can undo that.
hear=''
env --default-signal=INT,QUIT true 2>/dev/null && hear=--default-signal=INT,QUIT
session=setsid
command -v setsid >/dev/null 2>&1 || session=''
log=$(readlink -n "$folder/err" && echo .) log=${log%.}
before=$(wc -c <"$log" 2>/dev/null) || before=0
pause() { sleep 0.1 2>/dev/null || { sleep 1; look=$((look + 9)); }; }
(
    umask "$mask"
    cd -P -- "$folder/cwd" || exit 126
    rm -rf -- "$folder"
    [ -n "$session" ] || trap '' HUP
    exec $session env -i $hear -- "$@"
) </dev/null >>"$folder/out" 2>>"$folder/err" &
pid=$!
identify "$pid"
echo "started $pid $start"

look=0
runs() { identify "$pid" && [ "$state" != Z ]; }
while [ -d "$folder" ] && runs; do pause; done
while [ "$look" -lt "$looks" ]; do
    pause
    look=$((look + 1))
    runs && continue
    wait "$pid"
    printf 'ended %s ' $?
    tail -c "+$((before + 1))" "$log" 2>/dev/null | tail -c 2000 | od -An -v -tx1 | tr -d ' \n'
    echo
    exit
done
