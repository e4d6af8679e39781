# Arguments: FOLDER TOKEN. Ends an action: all that was kept of it is removed, unless another one took over. Prints done,
# lost, or busy while it is being launched: a server that has begun would be found by nobody.
holds "$1" "$2" || { [ -d "$1" ] && echo lost; exit; }
{ launching "$1" >/dev/null || out_of_sight "$1"; } && { echo busy; exit; }
end "$1"
drop "$1"
echo done
