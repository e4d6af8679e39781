# Where one process is: its state, its kernel stack, what its threads wait for, and its Python stacks where py-spy is there.
# Arguments: SECONDS that py-spy may take, PID, START, and a FOLDER in which py-spy may lie beside the server's own program.
# py-spy is asked not to pause the process: a server in trouble is looked at, never touched.
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
export PATH
limit=$1 pid=$2 began=$3 folder=$4

plain() { tr -d '\036\000'; }
section() { printf '\036%s\n' "$1"; }

section "process $pid"
if ! identify "$pid" || [ "$start" != "$began" ]; then
    echo 'It has ended.'
    exit
fi
cd "/proc/$pid" || exit
{
    printf 'command: '
    tr '\000-\037\177' ' ' <cmdline
    echo
    grep -E '^(Name|State|PPid|Uid|VmRSS|VmSwap|Threads|SigQ|SigBlk|SigIgn|SigCgt):' status
    printf 'waits in: '
    cat wchan
    echo
    printf 'system call: '
    cat syscall
} 2>&1 | plain

section "kernel stack of $pid"
cat stack 2>&1 | plain

section "threads of $pid: how many, state, wait channel"
for task in task/*; do
    { read -r numbers <"$task/stat"; read -r where <"$task/wchan"; } 2>/dev/null
    numbers=${numbers##*\) }
    echo "${numbers%% *} ${where:-?}"
    where=''
done 2>/dev/null | sort | uniq -c | sort -rn | head -n 40 | plain

section "Python stacks of $pid"
spy=$(command -v py-spy) || spy=$folder/py-spy
if [ -x "$spy" ]; then
    if command -v timeout >/dev/null; then
        timeout -k 2 "$limit" "$spy" dump --nonblocking --pid "$pid" 2>&1 | plain
    else
        "$spy" dump --nonblocking --pid "$pid" 2>&1 | plain
    fi
else
    echo 'There is no py-spy on this machine: only the kernel can tell where the process is.'
fi
