# Tells of every action of this user that was not ended: keyed lines, each action begun by "folder". What nobody came for
# in time is removed.
uid=$(id -u)
home=$(ours "$base/bringup-$uid") || exit 0
expire "$home"
for folder in "$home"/*-*; do
    [ -f "$folder/claim" ] || continue
    printf 'folder ' && printf %s "$folder" | od -An -v -tx1 | tr -d ' \n' && echo
    cat "$folder/claim"
    echo "age $(age "$folder/claim")"
    # Whether its processes live can only be told where they have the same numbers.
    here "$folder" && seen=yes || seen=no
    # Before its step: a launch that ends in between has written that down.
    [ "$seen" = no ] || ! launching "$folder" >/dev/null || echo "launching yes"
    [ ! -f "$folder/step" ] || echo "step $(cat "$folder/step")"
    [ "$began" != "$boot" ] || [ -z "$up" ] || { read -r now _ </proc/uptime && echo "began $((${now%.*} - up))"; }
    if [ "$seen" = no ]; then echo "unseen yes"
    elif [ "$began" = "$boot" ]; then
        for member in $(cat "$folder/members" 2>/dev/null); do alive "$member" && echo "alive $member"; done
        for each in $above; do
            alive "$each" && ! at_prompt "${each%:*}" && echo "starter $each"
        done
        server=${folder##*/}
        alive "${server%-*}:${server#*-}" && echo "alive ${server%-*}:${server#*-}"
        new=''
        [ ! -f "$folder/new" ] || read -r new <"$folder/new"
        if [ -n "$new" ] && alive "$new"; then echo "runs $new"
        elif other=$(again "$folder"); then echo "runs $other"
        elif [ -n "$new" ]; then echo "died $new"; fi
        ! starter=$(launching "$folder" at-work) || echo "at-work $starter"
    else
        echo "rebooted yes"
        [ ! -f "$folder/new" ] || { read -r new <"$folder/new"; echo "died $new"; }
    fi
    [ ! -f "$folder/ended" ] || echo "ended $(cat "$folder/ended")"
    [ ! -s "$folder/said" ] || { printf 'said ' && tail -c 2000 "$folder/said" | od -An -v -tx1 | tr -d ' \n' && echo; }
    { [ -f "$folder/ticket" ] || [ -f "$folder/taken" ]; } && echo "prepared yes"
    [ -f "$folder/ticket" ] && [ -f "$(hidden "$folder")/environ" ] && echo "kept yes"
done
