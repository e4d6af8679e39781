# Three lines for each of the PIDs that are given: p with its numbers and its user, n with its name, t with its title.
# Line ends within names and titles become blanks, so nothing in them can look like another line.
seen='' user=''
for pid; do
    identify "$pid" || continue
    uid=''
    while read -r key value rest; do
        [ "$key" = Uid: ] && uid=$value && break
    done 2>/dev/null <"/proc/$pid/status"
    [ "$uid" = "$seen" ] || { seen=$uid user=$(id -nu "$uid" 2>/dev/null) || user=$uid; }
    echo "p $pid $ppid $pgid $sid $start $state $user"
    printf 'n %s\nt ' "$comm"
    { head -c 4096 "/proc/$pid/cmdline" | tr '\000\n' '  '; } 2>/dev/null
    echo
done
