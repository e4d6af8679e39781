# Arguments: PID START. Prints who has stopped that server from this login, or restarted it, once that is over: lines "action",
# "who", and "began", the seconds since it was begun. Nothing where nobody has, or the machine was started anew since.
home=$(ours "$base/bringup-$(id -u)") && [ -f "$home/$1:$2.ended" ] || exit 0
read -r boot </proc/sys/kernel/random/boot_id
grep -qx "boot $boot" "$home/$1:$2.ended" || exit 0
up=$(sed -n 's/^up //p' "$home/$1:$2.ended")
read -r now _ </proc/uptime
grep -e '^action ' -e '^who ' "$home/$1:$2.ended"
echo "began $((${now%.*} - ${up:-0}))"
