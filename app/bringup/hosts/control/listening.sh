# Arguments: PID... Prints PID, address and port (hexadecimal, as in proc_net(5)) of each TCP socket that one listens on, and
# "apart" where that is in another network namespace than ours: nobody can be asked there from here.
here=$(readlink /proc/self/ns/net)
for pid; do
    where=''
    [ "$(readlink "/proc/$pid/ns/net" 2>/dev/null || echo "$here")" = "$here" ] || where=apart
    for socket in $(ls -l "/proc/$pid/fd" 2>/dev/null | sed -n 's/.* -> socket:\[\([0-9]*\)\]$/\1/p'); do
        while read -r _ address _ state _ _ _ _ _ inode _; do
            [ "$state/$inode" = "0A/$socket" ] && echo "$pid $address $where"
        done 2>/dev/null <"/proc/$pid/net/tcp"
        while read -r _ address _ state _ _ _ _ _ inode _; do
            [ "$state/$inode" = "0A/$socket" ] && echo "$pid $address $where"
        done 2>/dev/null <"/proc/$pid/net/tcp6"
    done
done
