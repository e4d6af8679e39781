# Arguments: FOLDER TOKEN. Ends an action: all that was kept of it is removed, unless another one took over. Without the
# ticket nothing that was begun can launch any more.
holds "$1" "$2" || { [ -d "$1" ] && echo lost; exit; }
rm -f -- "$1/ticket" "$1/environ"
rm -rf -- "$1"
echo done
