# Argument: PORT. Prints address (hexadecimal, as in proc_net(5)), user, PID and name of each process that holds a TCP
# socket which listens on it; PID 0 where it is not seen which one does, as with another user's.
hex=$(printf %04X "$1")
for table in /proc/net/tcp /proc/net/tcp6; do
    while read -r _ address _ state _ _ _ uid _ inode _; do
        case $address/$state in *":$hex/0A") ;; *) continue ;; esac
        user=$(id -nu "$uid" 2>/dev/null || echo "$uid")
        pids=$(ls -l /proc/[0-9]*/fd 2>/dev/null |
            sed -n -e '\,^/proc/,h' -e "/ -> socket:\\[$inode\\]\$/{" -e g -e 's/[^0-9]//gp' -e '}' | sort -un)
        for pid in ${pids:-0}; do
            name=''
            { read -r name <"/proc/$pid/comm"; } 2>/dev/null
            echo "${address%:*} $user $pid $name"
        done
    done 2>/dev/null <"$table"
done
