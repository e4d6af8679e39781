# Arguments: FOLDER COMMAND STARTER. Runs a launcher's start command and waits for it, or for the one that was begun before
# and is still at work: never two of them. Prints run, or waits PID:START; and then its exit status, where that is known.
# What it said last goes to the standard error.
folder=$1
# It ends here with its channel: nobody reads what is printed then.
pause() { sleep 0.2 2>/dev/null || sleep 1; echo; }
session=setsid status=''
command -v setsid >/dev/null 2>&1 || { session='' && trap '' HUP; }
if ! other=$(launching "$folder" at-work); then
    echo run
    printf %s "$3" >"$folder/starter" || exit
    $session sh "$folder/starter" "$folder" "$2" </dev/null >/dev/null 2>&1 &
    begun=$!
    wait "$begun"
    status=$?
    # Without its turn it has done nothing: another one was quicker, or that could not be written down.
    grep -q "^$begun:" "$folder"/at-work.* 2>/dev/null || other=$(launching "$folder" at-work) || {
        echo "it was not run, for that could not be written down" >&2
        exit
    }
fi
if [ -n "$other" ]; then
    echo "waits $other"
    while alive "$other"; do pause; done
    { read -r status <"$folder/own-status"; } 2>/dev/null || status=''
fi
tail -c 4096 "$folder/own" >&2
echo "status $status"
