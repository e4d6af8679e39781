# Arguments: FOLDER TOKEN SECONDS INSIDE CHILD PANE PERL PYTHON SHELL. Launches what capture.sh kept in FOLDER, and watches
# for SECONDS. CHILD and PANE are scripts, the last three are for child.sh to become the server by; INSIDE is the command
# that runs PANE in a terminal, "" for a process of its own. Prints one of
#   lost, none, running PID:START, again PID:START
#                                       nothing was launched: not ours any more, nothing kept, the old server still runs
#   started PID:START                   with "log PATH" for each log that was put aside, "unlike WHAT" for what is not as it was
#   ended STATUS                        it ended meanwhile; its last words follow (hexadecimal). What was kept is kept on
folder=$1 token=$2 looks=$(($3 * 10)) inside=$4
holds "$folder" "$token" || { echo lost; exit; }
hidden=$(hidden "$folder")
[ -f "$folder/ticket" ] && [ -f "$hidden/environ" ] || { echo none; exit; }
for member in $(cat "$folder/members" 2>/dev/null); do alive "$member" && { echo "running $member"; exit; }; done
server=${folder##*/} server=${server%-*}:${server##*-}
alive "$server" && { echo "running $server"; exit; }
other=$(again "$folder") && { echo "again $other"; exit; }
umask 077
printf %s "$5" >"$folder/child" && printf %s "$6" >"$folder/pane" && printf '%s\n' "$hidden" >"$folder/hidden" &&
    printf %s "$7" >"$folder/become.pl" && printf %s "$8" >"$folder/become.py" && printf %s "$9" >"$folder/become.sh" || exit
rm -f "$folder/new" "$folder/ended" "$folder/words" "$folder/said" "$folder/taken"
echo launching >"$folder/step"
# They are removed as soon as the server has them; where it fails at once they come back for another try.
exec 4<"$hidden/environ" 5<"$hidden/argv"

pause() { sleep 0.1 2>/dev/null || { sleep 1; look=$((look + 9)); }; }
path() { readlink -n "$folder/$1" && echo .; }
# The log of a launch that begins a new one is put aside, so that its lines stay.
aside() {
    [ "$(cat "$folder/$1-how")" = anew ] && [ -s "$2" ] && [ -f "$2" ] || return 0
    old=$2.$(date +%Y%m%d-%H%M%S)
    while [ -e "$old" ]; do old=$old.1; done
    if mv -- "$2" "$old" 2>/dev/null; then
        printf 'log ' && printf %s "$old" | od -An -v -tx1 | tr -d ' \n' && echo
    else
        echo append >"$folder/$1-how"
    fi
}

# Opens output $1 as the first launch had it: whoever restarts next can tell again what becomes of the log.
anew() { [ "$(cat "$folder/$1-how")" = anew ]; }

out=$(path out) out=${out%.} err=$(path err) err=${err%.} last='' before=0 job='' both=no
if [ -n "$inside" ]; then
    sh -c "$inside" </dev/null >&2 4<&- 5<&- || { echo "ended $?" && echo; exit; }
else
    [ "$out" != "$err" ] || both=yes
    aside out "$out"
    [ "$both" = yes ] || aside err "$err"
    last=$err
    before=$({ wc -c <"$last"; } 2>/dev/null) || before=0
    session=setsid
    command -v setsid >/dev/null 2>&1 || { session='' && trap '' HUP; }
    (
        exec 4<&- 5<&-
        umask "$(cat "$folder/umask")"
        if anew out; then exec >"$out"; else exec >>"$out"; fi
        if [ "$both" = yes ]; then exec 2>&1; elif anew err; then exec 2>"$err"; else exec 2>>"$err"; fi
        exec $session sh "$folder/child" "$folder"
    ) </dev/null &
    job=$!
fi

runs() { [ -z "$job" ] || { identify "$job" && [ "$state" != Z ]; }; }
look=0
while [ ! -f "$folder/new" ] && runs && [ "$look" -lt 100 ]; do pause; look=$((look + 1)); done
new=''
[ ! -f "$folder/new" ] || { read -r new <"$folder/new" && echo "started $new"; }
look=0
if [ -n "$new" ]; then
    # Until the new process has read them, its environment and command line lie here.
    while alive "$new" && { [ "$look" -lt "$looks" ] || [ -f "$hidden/argv" ]; }; do pause; look=$((look + 1)); done
    if alive "$new"; then
        echo launched >"$folder/step"
        sed 's/^/unlike /' "$folder/unlike"
        exit
    fi
fi
status=1 look=0
if [ -n "$job" ]; then
    wait "$job"
    status=$?
else
    while [ ! -f "$folder/ended" ] && [ "$look" -lt 50 ]; do pause; look=$((look + 1)); done
    [ ! -f "$folder/ended" ] || read -r status <"$folder/ended"
fi
echo "ended $status"
{
    [ ! -f "$folder/words" ] || cat "$folder/words"
    [ -z "$last" ] || tail -c "+$((before + 1))" "$last" 2>/dev/null | tail -c 2000
} >"$folder/said"
od -An -v -tx1 <"$folder/said" | tr -d ' \n'
echo
[ -f "$hidden/environ" ] || cat <&4 >"$hidden/environ"
[ -f "$hidden/argv" ] || cat <&5 >"$hidden/argv"
exec 4<&- 5<&-
watch_over "$folder" "$hidden"
echo "$status" >"$folder/ended"
echo failed >"$folder/step"
: >"$folder/ticket"
