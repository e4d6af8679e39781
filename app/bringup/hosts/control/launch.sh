# Arguments: FOLDER TOKEN SECONDS INSIDE CHILD PANE PERL PYTHON SHELL. Launches what capture.sh kept in FOLDER, and watches
# for SECONDS. CHILD and PANE are scripts, the last three are for child.sh to become the server by; INSIDE is the command
# that runs PANE in a terminal, "" for a process of its own. Prints one of
#   lost, busy, none, running PID:START, again PID:START
#                                       nothing was launched: not ours any more, another one launches it at this moment,
#                                       nothing kept, the old server still runs, a new one does
#   started PID:START                   with "log PATH" for each log that was put aside; "writes PATH OLD SIZE LAST" for each
#                                       file that it writes to: where what stood in it was put ("-": nowhere), how many bytes
#                                       were left in it, and the last of them; "unlike WHAT" for what is not as it
#                                       was, "mortal yes" where it ends with the login's session; that for the next one, too
#   handed PID:START, handed            a configured command ended well meanwhile; a process of it that goes on. Its last
#                                       words follow (hexadecimal)
#   ended STATUS                        it ended meanwhile, with "left PID:START" before that for a process of it that goes
#                                       on, and "full yes" where its log can take nothing more; its last words follow
#                                       (hexadecimal). What was kept is kept on
folder=$1 token=$2 looks=$(($3 * 10)) inside=$4
holds "$folder" "$token" || { echo lost; exit; }
turn "$folder" || { launching "$folder" >/dev/null && echo busy; exit; }
# It goes on without whoever asked for it, and then nobody reads what it prints.
trap : PIPE
hidden=$(hidden "$folder")
[ -f "$folder/ticket" ] && [ -f "$hidden/environ" ] || { echo none; exit; }
against "$folder" && exit
umask 077
printf %s "$5" >"$folder/child" && printf %s "$6" >"$folder/pane" && printf '%s\n' "$hidden" >"$folder/hidden" &&
    printf %s "$7" >"$folder/become.pl" && printf %s "$8" >"$folder/become.py" && printf %s "$9" >"$folder/become.sh" || exit
rm -f "$folder/new" "$folder/ended" "$folder/words" "$folder/said" "$folder/taken"
at() { printf '%s\n' "$1" >"$folder/step.new" && mv -f "$folder/step.new" "$folder/step"; }
at launching || exit
# They are removed as soon as the server has them; where it fails at once they come back for another try.
exec 4<"$hidden/environ" 5<"$hidden/argv"
[ ! -f "$hidden/was" ] || exec 6<"$hidden/was"
port_of "$folder" "$hidden" >"$folder/port"

pause() { sleep 0.1 2>/dev/null || { sleep 1; look=$((look + 9)); }; }
path() { readlink -n "$folder/$1" && echo .; }
# The log of a launch that begins a new one is put aside, so that its lines stay; of logs that we chose, those of the last
# five launches.
aside() {
    how=$(cat "$folder/$1-how")
    [ "$how" != append ] && [ -s "$2" ] && [ -f "$2" ] || return 0
    old=$2.$(date +%Y%m%d-%H%M%S)
    while [ -e "$old" ]; do old=$old.1; done
    if mv -- "$2" "$old" 2>/dev/null; then
        moved=$old
        [ "$how" = anew ] || ls -t -- "$2".[0-9]* | tail -n +6 | while IFS= read -r oldest; do rm -f -- "$oldest"; done
        printf 'log ' && printf %s "$old" | hex && echo
    else
        echo append >"$folder/$1-how"
    fi
}
hex() { od -An -v -tx1 | tr -d ' \n'; }
# Tells where in the file of output $1 the new server's lines begin; one that is no plain file is not read by anybody.
writes() {
    moved='' size=0
    aside "$1" "$2"
    [ -f "$2" ] || [ ! -e "$2" ] || return 0
    [ ! -s "$2" ] || size=$({ wc -c <"$2"; } 2>/dev/null) || size=0
    echo "writes $(printf %s "$2" | hex) $(printf %s "${moved:--}" | hex) $((size)) $(tail -c 64 "$2" 2>/dev/null | hex)"
}

# Opens output $1 as the first launch had it: whoever restarts next can tell again what becomes of the log.
anew() { [ "$(cat "$folder/$1-how")" = anew ]; }

out=$(path out) out=${out%.} err=$(path err) err=${err%.} last='' before=0 begins='' job='' both=no
# Only what wrote to a terminal goes into one again.
[ -f "$folder/within" ] || inside=''
if [ -n "$inside" ]; then
    sh -c "$inside" </dev/null >&2 4<&- 5<&- 6<&- || { echo "ended $?" && echo; exit; }
else
    [ "$out" != "$err" ] || both=yes
    writes out "$out"
    [ "$both" = yes ] || writes err "$err"
    last=$err
    before=$({ wc -c <"$last"; } 2>/dev/null) || before=0
    # Whoever watches it tells by this which lines are of the launches before (beginning.sh).
    [ "$both" = no ] || [ ! -f "$last" ] || [ "$before" -eq 0 ] ||
        begins="$((before)) $(tail -c 64 "$last" | hex)"
    session=setsid
    command -v setsid >/dev/null 2>&1 || { session='' && trap '' HUP; }
    (
        exec 4<&- 5<&- 6<&-
        umask "$(cat "$folder/umask")"
        if anew out; then exec >"$out"; else exec >>"$out"; fi
        if [ "$both" = yes ]; then exec 2>&1; elif anew err; then exec 2>"$err"; else exec 2>>"$err"; fi
        exec $session sh "$folder/child" "$folder"
    ) </dev/null &
    job=$!
fi

# A session of a login may end all that it started, detached or not (KillUserProcesses=, logind.conf(5)).
logind() {
    busctl --timeout=2 get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager "$1"
} 2>/dev/null
mortal() {
    grep -q '/session-[0-9c]*\.scope' "/proc/${1%:*}/cgroup" && [ "$(logind KillUserProcesses)" = 'b true' ] || return 1
    user=$(id -un)
    case $(logind KillExcludeUsers) in *"\"$user\""*) return 1 ;; esac
    case $(logind KillOnlyUsers) in '' | 'as 0' | *"\"$user\""*) echo 'mortal yes' ;; esac
} 2>/dev/null

runs() { [ -z "$job" ] || { identify "$job" && [ "$state" != Z ]; }; }
look=0
while [ ! -f "$folder/new" ] && runs && [ "$look" -lt 100 ]; do pause; look=$((look + 1)); done
# A terminal that has not begun by now never will: nothing launches without the ticket. What has taken it says who it is.
if [ -z "$job" ] && [ ! -f "$folder/new" ]; then
    rm -f "$folder/child"
    if rm "$folder/ticket" 2>/dev/null; then
        echo 'The terminal began nothing within 10 s.' >"$folder/words"
        echo 1 >"$folder/ended"
    fi
    look=0
    while [ ! -f "$folder/new" ] && [ ! -f "$folder/ended" ] && [ "$look" -lt 100 ]; do pause; look=$((look + 1)); done
fi
new=''
[ ! -f "$folder/new" ] || { read -r new <"$folder/new" && echo "started $new" && begin "${folder%/*}" "$new" "$begins"; }
look=0
if [ -n "$new" ]; then
    # Until the new process has read them, its environment and command line lie here.
    while alive "$new" && { [ "$look" -lt "$looks" ] || [ -f "$hidden/argv" ]; }; do pause; look=$((look + 1)); done
    if alive "$new"; then
        at launched
        [ ! -L "$folder/last" ] || printf '%s\n' "$new" >"$folder/last"
        sed 's/^/unlike /' "$folder/unlike"
        mortal "$new"
        [ -L "$folder/last" ] || {
            # Not for the function alone: a shell keeps what it redirects for a while.
            (exec </dev/null >/dev/null 2>&1 && outlast "$folder" "$new") &
        }
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
# A command of the configuration may leave the server to others, as docker run -d does; the engine's own launcher may not.
[ "$status" -eq 0 ] && [ -L "$folder/last" ] && handed=yes || handed=no
if [ "$handed" = yes ]; then
    at launched
    printf '%s\n' "$new" >"$folder/last"
    other=$(left "$new") && mortal "$other"
    # For whoever looks here later, because the connection was lost.
    [ -z "$other" ] || { echo "$other" >"$folder/new.new" && mv -f "$folder/new.new" "$folder/new"; }
    echo 0 >"$folder/ended"
    echo "handed $other"
else
    ! other=$(left "$new") || echo "left $other"
    ! { [ -f "$last" ] && crowded "$last"; } || echo "full yes"
    echo "ended $status"
fi
{
    [ ! -f "$folder/words" ] || cat "$folder/words"
    [ -z "$last" ] || tail -c "+$((before + 1))" "$last" 2>/dev/null | tail -c 2000
} >"$folder/said"
od -An -v -tx1 <"$folder/said" | tr -d ' \n'
echo
[ "$handed" = no ] || exit 0
[ -f "$hidden/environ" ] || cat <&4 >"$hidden/environ"
[ -f "$hidden/argv" ] || cat <&5 >"$hidden/argv"
exec 4<&- 5<&- 6<&-
watch_over "$folder" "$hidden"
echo "$status" >"$folder/ended"
at failed
: >"$folder/ticket"
