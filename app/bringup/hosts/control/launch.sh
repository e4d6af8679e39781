# Arguments: FOLDER TOKEN SECONDS INSIDE CHILD PANE. Launches what capture.sh kept in FOLDER, and watches for SECONDS. CHILD
# and PANE are scripts; INSIDE is the command that runs one in a terminal, "" for a process of its own. Prints one of
#   lost, none, running PID:START, again PID:START
#                                       nothing was launched: not ours any more, nothing kept, the old server still runs
#   started PID:START                   with "log PATH" for each log that was put aside, "unlike WHAT" for what is not as it was
#   ended STATUS                        it ended meanwhile; its last words follow (hexadecimal). What was kept is kept on
folder=$1 token=$2 looks=$(($3 * 10)) inside=$4
holds "$folder" "$token" || { echo lost; exit; }
[ -f "$folder/ticket" ] && [ -f "$folder/environ" ] || { echo none; exit; }
for member in $(cat "$folder/members" 2>/dev/null); do alive "$member" && { echo "running $member"; exit; }; done
server=${folder##*/} server=${server%-*}:${server##*-}
alive "$server" && { echo "running $server"; exit; }
other=$(again "$folder") && { echo "again $other"; exit; }
umask 077
printf %s "$5" >"$folder/child" && printf %s "$6" >"$folder/pane" || exit
rm -f "$folder/new" "$folder/ended" "$folder/words" "$folder/taken"
echo launching >"$folder/step"
# They are removed as soon as the server has them; where it fails at once they come back for another try.
exec 4<"$folder/environ" 5<"$folder/argv"

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
    while alive "$new" && { [ "$look" -lt "$looks" ] || [ -f "$folder/argv" ]; }; do pause; look=$((look + 1)); done
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
} | od -An -v -tx1 | tr -d ' \n'
echo
[ -f "$folder/environ" ] || cat <&4 >"$folder/environ"
[ -f "$folder/argv" ] || cat <&5 >"$folder/argv"
echo "$status" >"$folder/ended"
echo failed >"$folder/step"
: >"$folder/ticket"
