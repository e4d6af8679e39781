# How the machine is. Arguments: none.
PATH=$PATH:/usr/bin:/bin
export PATH

section machine
{
    uname -a
    date
    [ ! -r /proc/uptime ] || echo "uptime and load: $(cat /proc/uptime /proc/loadavg | tr '\n' ' ')"
    for file in /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io; do
        [ ! -r "$file" ] || sed "s|^|${file#/proc/}: |" "$file" 2>/dev/null
    done
} 2>&1 | plain

section memory
grep -E '^(MemTotal|MemFree|MemAvailable|Cached|Dirty|Writeback|Shmem|SwapTotal|SwapFree|HugePages_Total):' /proc/meminfo 2>&1 | plain
for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    [ ! -r "$file" ] || echo "$file: $(cat "$file")" | plain
done
