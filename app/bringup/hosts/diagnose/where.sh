# Where one process is, as far as its kernel can tell without the locks that it may hold: its state, its kernel stack, what
# its threads wait for, the limit of its memory. Arguments: PID, START.
PATH=$PATH:/usr/bin:/bin
export PATH
pid=$1 began=$2

# The kernel hides where somebody else's process is: a 0 of one that waits.
visible() { case $2/$1 in 0/[SDTI]) echo 'hidden: only its user or root may see it' ;; *) echo "$2" ;; esac; }

section "process $pid"
if ! identify "$pid" || [ "$start" != "$began" ]; then
    echo 'It has ended.'
    exit
fi
cd "/proc/$pid" || exit
where='?'
read -r where <wchan 2>/dev/null
{
    grep -E '^(Name|State|PPid|Uid|VmRSS|VmHWM|RssShmem|VmSwap|Threads|SigQ|SigBlk|SigIgn|SigCgt):' status
    echo "waits in: $(visible "$state" "$where")"
    echo "system call: $(cat syscall 2>/dev/null || echo 'hidden: only its user or root may see it')"
    group=$(sed -n 's/^0:://p' cgroup)
    for file in memory.max memory.current memory.events; do
        [ ! -r "/sys/fs/cgroup$group/$file" ] || echo "$file of its cgroup: $(tr '\n' ' ' <"/sys/fs/cgroup$group/$file")"
    done
} 2>&1 | plain

section "kernel stack of $pid"
{ cat stack 2>/dev/null || echo 'Only root may see it.'; } | plain

section "threads of $pid: how many, state, wait channel"
for task in task/*; do
    where=''
    { read -r numbers <"$task/stat"; read -r where <"$task/wchan"; } 2>/dev/null
    numbers=${numbers##*\) }
    echo "${numbers%% *} $(visible "${numbers%% *}" "${where:-?}")"
done 2>/dev/null | sort | uniq -c | sort -rn | head -n 40 | plain
