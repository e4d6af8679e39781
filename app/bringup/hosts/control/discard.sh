# Arguments: FOLDER TOKEN. Ends an action: all that was kept of it is removed, unless another one took over.
holds "$1" "$2" || { [ -d "$1" ] && echo lost; exit; }
drop "$1"
echo done
