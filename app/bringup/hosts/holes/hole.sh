# Where a file has NULs only, found without reading through them: $1 is the path, $2 the byte from which to look.
# Prints the first byte of the hole and the first behind it, or nothing. What is allocated proves that nothing but NULs
# is between (stat(2), st_blocks); where it does not, the bytes are compared here, on the host.
export LC_ALL=C
path=$1 from=$2 unit=4096 samples=64 slack=65536

is_nul() { [ "$(dd if="$path" bs="$unit" skip="$1" count=1 2>/dev/null | tr -d '\0' | head -c 1 | wc -c)" -eq 0 ]; }

set -- $(stat -L -c '%s %b %B' -- "$path" 2>/dev/null)
[ $# -eq 3 ] || exit 0
size=$1 allocated=$(($2 * $3))
low=$(((from + unit - 1) / unit)) last=$(((size - 1) / unit))
[ "$low" -lt "$last" ] || exit 0
text=$((low - 1))
if ! is_nul "$low"; then
    [ $((allocated + 16 * slack)) -lt "$size" ] || exit 0
    step=$(((last - low) / samples + 1))
    while text=$low low=$((low + step)); do
        [ "$low" -lt "$last" ] || exit 0
        is_nul "$low" && break
    done
    while [ $((low - text)) -gt 1 ]; do
        middle=$(((low + text) / 2))
        if is_nul "$middle"; then low=$middle; else text=$middle; fi
    done
    from=$((low * unit))
fi
if is_nul "$last"; then
    end=$size
else
    high=$last
    while [ $((high - low)) -gt 1 ]; do
        middle=$(((low + high) / 2))
        if is_nul "$middle"; then low=$middle; else high=$middle; fi
    done
    end=$((high * unit))
fi
if [ "$allocated" -gt $((size - (end - from) + slack)) ]; then
    differs=$(tail -c +$((from + 1)) -- "$path" | head -c $((size - from)) | cmp - /dev/zero 2>/dev/null |
        sed -n 's/.*differ: [a-z]* \([0-9]*\).*/\1/p')
    end=$((differs ? from + differs - 1 : size))
fi
echo "$from $end"
