# Arguments: PID START COMMAND. Runs the launcher's own command, only while the server is still the one that was looked
# at.
if ! { identify "$1" && [ "$start" = "$2" ] && [ "$state" != Z ]; }; then
    echo gone
    exit
fi
echo run
sh -c "$3" </dev/null >&2
echo "status $?"
