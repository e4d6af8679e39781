# Arguments: SIGNAL PID:START... Each process is signalled only if it is the one that started then, looked at in the
# moment before. One that is stopped is let go on: it would not hear SIGTERM or SIGINT before. Prints for each: its PID and
# sent, gone, reused or denied.
signal=$1
shift
for pair; do
    pid=${pair%:*}
    if ! identify "$pid" || [ "$state" = Z ]; then
        echo "$pid gone"
    elif [ "$start" != "${pair#*:}" ]; then
        echo "$pid reused"
    elif kill -s "$signal" "$pid" 2>/dev/null; then
        [ "$state/$signal" != T/TERM ] && [ "$state/$signal" != T/INT ] || kill -s CONT "$pid" 2>/dev/null
        echo "$pid sent"
    elif identify "$pid" && [ "$start" = "${pair#*:}" ]; then
        echo "$pid denied"
    else
        echo "$pid gone"
    fi
done
