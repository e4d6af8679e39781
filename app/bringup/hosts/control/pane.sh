# Argument: FOLDER. Runs the server in a terminal, as a person would have started it there, and leaves a shell behind.
# The last words of a server are on the terminal only: these print what is there.
tmux_shows() { tmux capture-pane -p -t "$TMUX_PANE"; }
# screen(1) writes it to a file, some time after it was asked to.
screen_shows() {
    rm -f "$1/shown"
    screen -S "$STY" -p "$WINDOW" -X hardcopy "$1/shown" || return
    look=0
    while [ ! -s "$1/shown" ] && [ "$look" -lt 30 ]; do sleep 0.1; look=$((look + 1)); done
    cat "$1/shown" && rm -f "$1/shown"
}
# Where one runs inside of the other the variables of both are set: ours is the one whose pane is this terminal.
in_tmux() { [ -n "$TMUX_PANE" ] && [ "$(tmux display-message -p -t "$TMUX_PANE" '#{pane_tty}')" = "$(tty)" ]; }

# It came too late, and that was said (launch.sh).
[ -f "$1/child" ] || exec "${SHELL:-sh}"
sh "$1/child" "$1"
status=$?
if [ -d "$1" ]; then
    {
        if in_tmux; then tmux_shows; elif [ -n "$STY" ]; then screen_shows "$1"; fi | grep . | tail -n 5 >"$1/words"
    } 2>/dev/null
    echo "$status" >"$1/ended.new" && mv -f "$1/ended.new" "$1/ended"
fi
exec "${SHELL:-sh}"
