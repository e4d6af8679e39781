# Tells where processes run and write, and what stands around them. Arguments: NAMES PID[:ABOVE]...
#   NAMES   variables of the environment, as an extended regular expression; only which of them are set is told
#   ABOVE   what started the process: a script is looked at for loops
# Answers for each: a line with its number, then keyed lines, each followed by bytes as od prints them:
#   cwd, cgroup, environ
#   deaf    it ignores SIGHUP
#   loops   the script above it has a loop
#   fd N FLAGS   what descriptor N leads to; flags: e the path names that file, r it does below /proc/PID/root,
#                o we may read it, p a pipe, s a socket, c a device
#   reader N PID        the command line of what reads the pipe of descriptor N, directly or through others
#   file N PID FLAGS    a file that such a reader writes (its own errors apart)
LC_ALL=C
export LC_ALL

bytes() { od -An -v -tx1 -N 8192; }

# Who reads pipe $3, and what it writes: a file, or the next pipe. Columns of ls -l: mode, …, number -> target.
find_readers() {
    ls -l /proc/[0-9]*/fd/ 2>/dev/null | awk -v asked="$3" -v skip="$1" '
        /^\/proc\/[0-9]+\/fd\/:$/ { split($0, part, "/"); pid = part[3]; next }
        !match($0, / [0-9]+ -> /) || pid == skip { next }
        {
            to = substr($0, RSTART + RLENGTH); mode = substr($0, 2, 2)
            split(substr($0, RSTART), part, " ")
            if (mode == "r-" && (to ~ /^pipe:/ || to == asked)) readers[to] = readers[to] " " pid
            else if (mode == "-w" && to ~ /^pipe:/) pipes[pid] = pipes[pid] " " to
            else if (mode ~ /w/ && part[1] != 2 && to ~ /^\// && to !~ /^\/(dev|proc|sys)\//) files[pid] = files[pid] " " part[1]
        }
        END {
            todo[n = 1] = asked
            for (i = 1; i <= n && i < 20; i++) {
                count = split(readers[todo[i]], pid_of, " ")
                for (j = 1; j <= count; j++) if (!(pid_of[j] in seen)) {
                    seen[pid_of[j]]
                    print pid_of[j] files[pid_of[j]]
                    more = split(pipes[pid_of[j]], next_pipe, " ")
                    for (k = 1; k <= more; k++) todo[++n] = next_pipe[k]
                }
            }
        }' | while read -r reader fds; do
        printf 'reader\t%s\t%s\n' "$2" "$reader"
        bytes <"/proc/$reader/cmdline"
        for fd in $fds; do
            printf 'file\t%s\t%s\t%s\n' "$2" "$reader" "$([ -r "/proc/$reader/fd/$fd" ] && echo o)"
            readlink "/proc/$reader/fd/$fd" | bytes
        done
    done
}

# Says whether a process is a shell that runs a script with a loop, from a file or from its own command line.
has_loops() {
    text=$(tr '\000' '\n' <"/proc/$1/cmdline")
    file=$(printf '%s\n' "$text" | sed -n '2,$p' | grep -v '^-' | head -n 1)
    case $text in
        *'
-c
'*) printf '%s\n' "$text" ;;
        *) cd "/proc/$1/cwd" && [ -f "$file" ] && head -c 65536 "$file" ;;
    esac | grep -Eq '(^|[;&|[:space:]])(while|until|for)[[:space:]]'
}

names=$1
shift
for pid; do
    above=${pid#*:} pid=${pid%:*}
    printf 'process\t%s\n' "$pid"
    printf 'environ\n'
    tr '\000' '\n' <"/proc/$pid/environ" | grep -E "^($names)=" | cut -d = -f 1 | bytes
    # SIGHUP is the lowest bit.
    case $(sed -n 's/^SigIgn:.*\(.\)$/\1/p' "/proc/$pid/status") in [13579bdf]) printf 'deaf\n' ;; esac
    [ "$above" = "$pid" ] || ! (has_loops "$above") || printf 'loops\n'
    printf 'cwd\n'
    readlink "/proc/$pid/cwd" | bytes
    printf 'cgroup\n'
    bytes <"/proc/$pid/cgroup"
    for fd in 1 2; do
        path=/proc/$pid/fd/$fd flags=''
        # The dot keeps line ends at the end of a name.
        to=$(readlink "$path"; echo .)
        to=${to%??}
        if [ -p "$path" ]; then flags=p; elif [ -S "$path" ]; then flags=s; elif [ -c "$path" ]; then flags=c
        elif [ "$to" -ef "$path" ]; then flags=e
        elif [ "/proc/$pid/root$to" -ef "$path" ]; then flags=r; fi
        [ ! -r "$path" ] || flags=${flags}o
        printf 'fd\t%s\t%s\n' "$fd" "$flags"
        printf %s "$to" | bytes
        case $flags in *p*) find_readers "$pid" "$fd" "$to" ;; esac
    done
done 2>/dev/null
