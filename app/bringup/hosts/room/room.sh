# How much room the file system of each file given has left, for whoever owns the file: "FREE TOTAL MOUNT", in bytes.
# Blocks that are kept for root (stat -f: %f with them, %a without) count for a log of root's only.
export LC_ALL=C
for path; do
    owner=$(stat -L -c %u -- "$path" 2>/dev/null)
    kept=$(stat -f -c '%f %S' -- "$path" 2>/dev/null)
    df -P -k -- "$path" 2>/dev/null | {
        read -r heading
        read -r device all used given part mount || exit 0
        given=$((given * 1024))
        [ "$owner" != 0 ] || [ -z "$kept" ] || given=$((${kept% *} * ${kept#* }))
        echo "$given $((all * 1024)) $mount"
    }
done
