# What an expert would ask of a machine first. Arguments: SECONDS that any one program may take.
# Sections begin with a record separator (036) and their name; what could fake one has been taken out.
LC_ALL=C PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/nvidia/bin:/usr/lib/wsl/lib
export LC_ALL PATH
limit=$1

section() { printf '\036%s\n' "$1"; }
plain() { tr -d '\036\000'; }
within() {
    if command -v timeout >/dev/null; then timeout -k 2 "$limit" "$@"; else "$@"; fi 2>&1 | plain
}

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

section 'disk space'
within df -h / /tmp /dev/shm

section nvidia-smi
if command -v nvidia-smi >/dev/null; then
    within nvidia-smi
    within nvidia-smi --format=csv --query-compute-apps=pid,gpu_uuid,used_memory,process_name
else
    echo 'There is no nvidia-smi on this machine.'
fi

section 'kernel log'
if command -v dmesg >/dev/null && dmesg >/dev/null 2>&1; then
    dmesg | tail -n 80 | plain
elif command -v journalctl >/dev/null; then
    within journalctl -k -n 80 --no-pager -q
else
    echo 'The kernel log may not be read by this user.'
fi
