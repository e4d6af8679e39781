# Arguments: FOLDER COMMAND. Runs a launcher's start command in a session of its own: it goes on when nobody waits for it any
# more. Its PID and start time are written down before, so that it is found again and not run a second time. What it says
# goes into the FOLDER of the action: nobody may read a pipe to its end.
(umask 077 && turn "$1" at-work) || exit 75
# Who waits for this one must not read how one before it has ended.
rm -f -- "$1/own-status"
sh -c "$2" </dev/null >"$1/own" 2>&1
status=$?
{ echo "$status" >"$1/own-status.new" && mv -f "$1/own-status.new" "$1/own-status"; } 2>/dev/null
exit "$status"
