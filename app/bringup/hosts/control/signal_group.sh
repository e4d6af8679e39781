# Arguments: SIGNAL PGID PID:START... The process group is signalled only if every running process in it is one of these.
# Prints sent, or what stood against it: stranger and its PID, or gone.
signal=$1 group=$2
shift 2
ours=" $* "
found=''
for folder in /proc/[0-9]*; do
    pid=${folder#/proc/}
    identify "$pid" && [ "$pgid" = "$group" ] && [ "$state" != Z ] || continue
    found=$pid
    case $ours in
        *" $pid:$start "*) ;;
        *) echo "stranger $pid"; exit ;;
    esac
done
# Group 0 would be this script's own, and 1 (as -1) every process there is.
[ -n "$found" ] && [ "$group" -gt 1 ] && kill -s "$signal" -- "-$group" 2>/dev/null && echo sent || echo gone
