# Arguments: PID... Prints the ticks of a second and the host's uptime, then PID, start and resident memory (kB) of each.
read -r up _ </proc/uptime
echo "$(getconf CLK_TCK 2>/dev/null || echo 100) $up"
for pid; do
    identify "$pid" || continue
    echo "$pid $start $(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null)"
done
