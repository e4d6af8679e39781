# Streams what the kernel and the driver say of a server as rows of TAB-separated fields, until nobody reads them.
# Needs a POSIX sh with awk, grep, tr, ls and sleep. Arguments:
#   SAMPLER ROOT PORT INTERVAL PATIENCE WITHIN PATTERN...
#   SAMPLER   the text of probe.awk
#   ROOT      process whose tree is watched; empty: look for processes with a PATTERN (grep's) in their command line
#   PORT      TCP port whose listener is named, as four hexadecimal digits; empty: none
#   INTERVAL  seconds between samples
#   PATIENCE  seconds after which nvidia-smi is ended; 0: it is not asked
#   WITHIN    when looking: only what descends from this process; empty: everything
# probe/__init__.py describes the rows. Rows leave in writes of less than 4 KiB, so that those of the two processes that
# write (samples, nvidia-smi) never mix; what may hold any byte is the last field and has lost its line ends.
sampler=$1 root=$2 port=$3 every=$4 patience=$5 within=$6
shift 6
LC_ALL=C PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/nvidia/bin:/usr/lib/wsl/lib
export LC_ALL PATH

if [ ! -r /proc/uptime ]; then
    printf 'X\tprocesses\t%s\n' "$(uname -s)"
    exit
fi
read -r up _ </proc/uptime
printf 'K\t%s\t%s\n' "$(date +%s.%N)" "$up"
printf 'H\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(uname -s)" "$(getconf CLK_TCK 2>/dev/null)" "$(getconf PAGESIZE 2>/dev/null)" \
    "$(date +%z)" "$(id -un)" "$(uname -n)"
sleep 0.01 2>/dev/null || every=$((${every%.*} + 1))

# --- nvidia-smi, in a process of its own: one that hangs holds up nothing else ---

# Sets $title to the command line of process $1.
command_line() {
    title=$(tr '\000-\037\177' ' ' 2>/dev/null <"/proc/$1/cmdline") || title=''
}

# Sets $parent to "parent/session/start" of process $1, $user to its owner; tells the command line where nobody else does.
origin() {
    parent='' user=''
    [ -e "/proc/$1/stat" ] || return
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null
    set -- "$1" ${stat##*) }
    parent=$3/$5/${21}
    if [ -z "$root" ] || [ "$3" = 1 ]; then
        command_line "$1"
        printf 't\t%s\t%.300s\n' "$1" "$title"
    fi
    set -- "$1" $(ls -ld "/proc/$1" 2>/dev/null)
    user=$4
}

ask_gpus() {
    read -r up _ </proc/uptime
    printf 'G\t%s\n' "$up"
    nvidia-smi --format=csv,noheader,nounits \
        --query-gpu=index,uuid,memory.used,memory.total,utilization.gpu,power.draw,power.limit,temperature.gpu,name 2>&1 |
        {
            # All lines in one piece: each piece costs the other end a packet.
            set --
            while IFS= read -r line; do set -- "$@" "$line"; done
            [ $# = 0 ] || printf 'g\t%.1500s\n' "$@"
        }
    # A process name can hold commas and line ends.
    nvidia-smi --format=csv,noheader,nounits --query-compute-apps=pid,gpu_uuid,used_memory,process_name 2>&1 |
        {
            set --
            while IFS= read -r line; do
                parent='' user=''
                case ${line%%,*} in '' | *[!0-9]*) ;; *) origin "${line%%,*}" ;; esac
                set -- "$@" "$parent" "$user" "$line"
            done
            [ $# = 0 ] || printf 'a\t%s\t%s\t%.1500s\n' "$@"
        }
    read -r up _ </proc/uptime
    printf 'Q\t%s\n' "$up"
}

# Process $1 is a living child of process $2.
is_child() {
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
    set -- "$2" ${stat##*) }
    [ "$2" != Z ] && [ "$3" = "$1" ]
}

# Every second, or two where an answer takes more than 200 ms; never twice at a time; ended when patience is.
watch_gpus() {
    read -r me _ </proc/self/stat
    while kill -0 $$ 2>/dev/null; do
        ask_gpus &
        asking=$! waited=0
        sleep 0.2 2>/dev/null
        is_child "$asking" "$me" && sleep 1
        sleep 0.8 2>/dev/null || sleep 1
        while is_child "$asking" "$me" && kill -0 $$ 2>/dev/null; do
            sleep 1
            waited=$((waited + 1))
            [ $((waited % patience)) = 0 ] || continue
            printf 'X\tgpus\thung %s\n' "$patience"
            for file in /proc/[0-9]*; do
                is_child "$asking" "$me" && is_child "${file##*/}" "$asking" && kill -KILL "${file##*/}"
            done
        done
    done
}

if [ "$patience" = 0 ]; then :; elif command -v nvidia-smi >/dev/null; then watch_gpus </dev/null & else printf 'X\tgpus\tmissing\n'; fi

# --- no server yet: who looks like one ---

descends() {
    parent=$1
    while [ "${parent:-0}" -gt 1 ]; do
        [ "$parent" != "$within" ] || return 0
        { read -r stat <"/proc/$parent/stat"; } 2>/dev/null || return
        set -- ${stat##*) }
        parent=$2
    done
    return 1
}

# Who listens on the port: looked for where its sockets have changed, since all open files of the host are read for it.
tell_port() {
    sockets=''
    for socket in $(grep -h -i ":$port 0*:0000 0A " net/tcp net/tcp6 2>/dev/null | while read -r _ _ _ _ _ _ _ _ _ inode _; do
        echo "$inode"
    done); do sockets="$sockets -e socket:.$socket]\$"; done
    if [ "$sockets" != "$known" ]; then
        known=$sockets holder=- title=''
        if [ -n "$sockets" ]; then
            holder=0 folder=0
            while read -r line; do
                case $line in
                /proc/*) folder=${line#/proc/} folder=${folder%%/*} ;;
                *) [ "$holder" != 0 ] && [ "$holder" -lt "$folder" ] || holder=$folder ;;
                esac
            done <<END
$(ls -l /proc/[0-9]*/fd/ 2>/dev/null | grep -e '^/proc/.*:$' $sockets)
END
            [ "$holder" = 0 ] || command_line "$holder"
        fi
    fi
    printf 'L\t%s\t%s\t%.300s\n' "$port" "$holder" "$title"
}

if [ -z "$root" ]; then
    known=none ticks=0
    for pattern; do
        shift
        set -- "$@" -e "$pattern"
    done
    cd /proc || exit
    while :; do
        found=''
        for file in $(grep -l "$@" [0-9]*/cmdline 2>/dev/null); do
            [ -n "$within" ] && ! descends "${file%/*}" || found="$found ${file%/*}"
        done
        read -r up _ </proc/uptime
        printf 'C\t%s\t%s\n' "$up" "$found"
        [ -z "$port" ] || [ $((ticks % 5)) != 0 ] || tell_port
        ticks=$((ticks + 1))
        sleep "$every" || exit
    done
fi

exec awk -v root="$root" -v port="$port" -v every="$every" "$sampler"
