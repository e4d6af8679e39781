# Argument: FOLDER. Runs the server in a terminal, as a person would have started it there, and leaves a shell behind.
sh "$1/child" "$1"
status=$?
if [ -d "$1" ]; then
    # The last words are on the screen only.
    [ -z "$TMUX_PANE" ] || tmux capture-pane -p -t "$TMUX_PANE" 2>/dev/null | grep . | tail -n 5 >"$1/words"
    echo "$status" >"$1/ended.new" && mv -f "$1/ended.new" "$1/ended"
fi
exec "${SHELL:-sh}"
