# Arguments: PID... Prints the ticks of a second and the host's uptime, then PID:START of each that runs.
read -r up _ </proc/uptime
echo "$(getconf CLK_TCK 2>/dev/null || echo 100) $up"
for pid; do
    identify "$pid" || continue
    echo "$pid:$start"
done
