# Tells where processes run and write, and what stands around them. Arguments: NAMES PID[:ABOVE]...
#   NAMES   variables of the environment, as an extended regular expression; only which of them are set is told
#   ABOVE   what started the process: a script is looked at for loops
# Answers for each: a line with its number, then keyed lines, each followed by bytes as od prints them:
#   cwd, cgroup, environ
#   deaf    it ignores SIGHUP
#   loops   the script above it has a loop
#   fd N FLAGS   what descriptor N leads to; flags: e the path names that file, r it does below /proc/PID/root,
#                o we may read it, p a pipe, s a socket, c a device
#   reader N PID FROM BY  the command line of what reads the pipe of descriptor N, directly (FROM 0) or from reader FROM; BY
#                       is the descriptor by which it does
#   file N PID FD FLAGS a file that such a reader writes by its descriptor FD (its own errors apart); flags: o we may read
#                       it, m others write it, too
LC_ALL=C
export LC_ALL

bytes() { od -An -v -tx1 -N 8192; }

# Who reads pipe $3, nearest first, and what it writes: a file, or the next pipe. Columns of ls -l: mode, …, number -> target.
# What awk prints for each: PID, FROM, BY, and FD:m for each file, m where a process that reads none of this writes it, too.
find_readers() {
    ls -l /proc/[0-9]*/fd/ 2>/dev/null | awk -v asked="$3" -v skip="$1" '
        /^\/proc\/[0-9]+\/fd\/:$/ { split($0, part, "/"); pid = part[3]; next }
        !match($0, / [0-9]+ -> /) || pid == skip { next }
        {
            to = substr($0, RSTART + RLENGTH); mode = substr($0, 2, 2)
            split(substr($0, RSTART), part, " ")
            if (mode == "r-" && (to ~ /^pipe:/ || to == asked)) {
                readers[to] = readers[to] " " pid
                if (!((to, pid) in by) || part[1] + 0 < by[to, pid]) by[to, pid] = part[1] + 0
            }
            # bash lets what it starts by >() inherit its own ends of other pipes, from 63 downwards.
            else if (mode == "-w" && to ~ /^pipe:/) {
                if (part[1] != 2 && part[1] < 10) pipes[pid] = pipes[pid] " " to
                if (part[1] == 1) output[pid] = to
            }
            else if (mode ~ /w/ && to ~ /^\// && to !~ /^\/(dev|proc|sys)\//) {
                if (part[1] != 2) { files[pid] = files[pid] " " part[1]; name[pid, part[1]] = to }
                if (!((to, pid) in writes)) { writes[to, pid]; writers[to] = writers[to] " " pid }
            }
        }
        END {
            todo[n = 1] = asked; from[1] = 0
            for (i = 1; i <= n && i < 20; i++) {
                count = split(readers[todo[i]], pid_of, " ")
                for (j = 1; j <= count; j++) if (!(pid_of[j] in seen)) {
                    at = by[todo[i], pid_of[j]]
                    seen[pid_of[j]]; order[++found] = pid_of[j]; before[pid_of[j]] = from[i] " " at
                    # What reads many pipes writes some, too: to those whom it has started.
                    more = split(at ? output[pid_of[j]] : pipes[pid_of[j]], next_pipe, " ")
                    for (k = 1; k <= more; k++) { todo[++n] = next_pipe[k]; from[n] = pid_of[j] }
                }
            }
            for (i = 1; i <= found; i++) {
                line = order[i] " " before[order[i]]
                count = split(files[order[i]], fd, " ")
                for (j = 1; j <= count; j++) {
                    more = split(writers[name[order[i], fd[j]]], pid_of, " "); mixed = ""
                    for (k = 1; k <= more; k++) if (!(pid_of[k] in seen)) mixed = "m"
                    line = line " " fd[j] ":" mixed
                }
                print line
            }
        }' | while read -r reader from by fds; do
        printf 'reader\t%s\t%s\t%s\t%s\n' "$2" "$reader" "$from" "$by"
        bytes <"/proc/$reader/cmdline"
        for fd in $fds; do
            flags=${fd#*:} fd=${fd%%:*}
            [ -f "/proc/$reader/fd/$fd" ] || continue
            [ ! -r "/proc/$reader/fd/$fd" ] || flags=${flags}o
            printf 'file\t%s\t%s\t%s\t%s\n' "$2" "$reader" "$fd" "$flags"
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
        to=${to%.} to=${to%?}
        if [ -p "$path" ]; then flags=p; elif [ -S "$path" ]; then flags=s; elif [ -c "$path" ]; then flags=c
        elif [ "$to" -ef "$path" ]; then flags=e
        elif [ "/proc/$pid/root$to" -ef "$path" ]; then flags=r; fi
        [ ! -r "$path" ] || flags=${flags}o
        printf 'fd\t%s\t%s\n' "$fd" "$flags"
        printf %s "$to" | bytes
        case $flags in *p*) find_readers "$pid" "$fd" "$to" ;; esac
    done
done 2>/dev/null
