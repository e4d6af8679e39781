# Arguments: FOLDER TOKEN. Ends an action that has launched a server: nothing secret of it stays in a file. What outlast
# (keeping.sh) may put back is laid aside, where the old server's launch was repeated; else all is removed. Prints done or
# lost.
holds "$1" "$2" || { [ -d "$1" ] && echo lost; exit; }
# What it had launched has ended since, and is kept for another try (outlast).
[ "$(cat "$1/step" 2>/dev/null)" != failed ] || { echo done; exit; }
end "$1"
if [ -f "$1/taken" ] && [ ! -L "$1/last" ]; then
    hidden=$(hidden "$1")
    rm -f -- "$1/ticket" "$hidden/environ" "$hidden/argv" "$hidden/was"
    { ! read -r mark <"$1/mark" || rm -f -- "$mark"; } 2>/dev/null
    [ "$hidden" = "$1" ] || rm -rf -- "$hidden"
    laid=$(laid "$1")
    rm -rf -- "$laid"
    mv -- "$1" "$laid" 2>/dev/null || drop "$1"
else
    drop "$1"
fi
echo done
