# Argument: PID. The PIDs of all processes in the same control groups (cgroups(7)), those below them included.
mine=$(sed -n 's/^0::\(.*\)$/\1/p; s/^[0-9]*:name=systemd:\(.*\)$/\1/p' "/proc/$1/cgroup" 2>/dev/null | grep -vx / | head -n 1)
[ -n "$mine" ] || exit 0
# A container's or unit's own group, where the launcher sits in one below it.
# The service of a user's own systemd (user@.service(5)) holds all units of that user: it is none of them.
unit=${mine#*/user@*.service/}
manager=${mine%"$unit"}
case $unit in *.service/*) mine=$manager${unit%%.service/*}.service ;; esac
for file in /proc/[0-9]*/cgroup; do
    while IFS= read -r line; do
        case $line in *":$mine" | *":$mine/"*) file=${file#/proc/} && echo "${file%/cgroup}" && break ;; esac
    done 2>/dev/null <"$file"
done
