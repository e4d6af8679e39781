# Argument: NAME. Tells what docker knows of a container, and which systemd unit keeps it (launchers.toml).
told=$(docker inspect --format 'main={{.State.Pid}}
name={{slice .Name 1}}
policy={{.HostConfig.RestartPolicy.Name}}
removed={{.HostConfig.AutoRemove}}
project={{index .Config.Labels "com.docker.compose.project"}}
service={{index .Config.Labels "com.docker.compose.service"}}' "$1") || exit
printf '%s\n' "$told"
name=$(printf '%s\n' "$told" | sed -n 's/^name=//p')
# starts FILE: tells whether a command line is that of a client that starts a container: one of `docker exec` does not.
starts() {
    tr '\000' '\n' <"$1" | awk '
        NR == 1 { if (!/(^|\/)docker$/) exit; next }
        value { value = 0; next }
        /^(-c|--context|-H|--host|--config|-l|--log-level|--tlscacert|--tlscert|--tlskey)$/ { value = 1; next }
        /^-/ || /^container$/ { next }
        { starts = /^(run|start)$/; exit }
        END { exit !starts }'
}
# below PID MAIN: tells whether a process is another one or stands below it.
below() {
    each=$1
    while [ "${each:-0}" -gt 1 ]; do
        [ "$each" != "$2" ] || return 0
        each=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$each/status")
    done
    return 1
}
# A unit that runs `docker run` or `docker start` in the foreground starts the container again when that ends. Only where
# the client is the unit's own main process, or below it: beside that a unit may run many things.
for file in $(grep -lzxF -e "$name" -e "--name=$name" /proc/[0-9]*/cmdline 2>/dev/null); do
    starts "$file" || continue
    folder=${file%/*}
    unit=$(sed -n '/\/user@[0-9]*\.service/d; s|^[^:]*:\(name=systemd\)*:/.*/\([^/]*\.service\)$|\2|p' "$folder/cgroup" | head -n 1)
    main=$(systemctl show -p MainPID "$unit" | sed -n 's/^MainPID=//p')
    [ -z "$unit" ] || ! below "${folder#/proc/}" "$main" || echo "unit=$unit"
done 2>/dev/null
