# Arguments: PID START. Where that process is one of what was launched here (launch.sh), prints what its log was then: how
# many bytes it had, and the last of them (hexadecimal).
identify "$1" && [ "$start" = "$2" ] && folder=$(ours "$base/bringup-$(id -u)") || exit 0
session=$sid began=$start
for written in "$folder/$session":*.begins; do
    first=${written##*/} first=${first%.begins}
    [ "$began" -ge "${first#*:}" ] && ! over "$first" && read -r begins <"$written" && echo "$begins" && exit
done 2>/dev/null
exit 0
