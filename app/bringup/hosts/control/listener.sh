# Argument: PORT. Prints the user of each socket that listens on it (proc_net(5), state 0A), nothing where there is none.
hex=$(printf %04X "$1")
for table in /proc/net/tcp /proc/net/tcp6; do
    [ -r "$table" ] || continue
    while read -r _ address _ socket _ _ _ uid _; do
        case $address/$socket in *":$hex/0A") id -nu "$uid" 2>/dev/null || echo "$uid" ;; esac
    done <"$table"
done
