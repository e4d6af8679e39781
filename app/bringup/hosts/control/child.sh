# Argument: FOLDER. Becomes the server that capture.sh kept in FOLDER. Whoever takes the ticket launches: there is one.
folder=$1
cd "$folder" && mv ticket taken 2>/dev/null || exit 75
umask 077
identify $$ && echo "$$:$start" >new.new && mv -f new.new new
own_nice=$nice

# Repeats the limits of the first launch (proc_pid_limits(5), prlimit(1)); the shell's own ulimit does for some.
limit() {
    prlimit --pid $$ "--$1=$2:$3" 2>/dev/null && return
    case $1 in nofile) set -- n "$2" 1 ;; memlock) set -- l "$2" 1024 ;; stack) set -- s "$2" 1024 ;; *) return ;; esac
    case $2 in unlimited) ulimit -S -"$1" unlimited ;; *) ulimit -S -"$1" $(($2 / $3)) ;; esac 2>/dev/null
}
differing() { sed 's/   */@/g' limits | while IFS= read -r row; do sed 's/   */@/g' /proc/$$/limits | grep -qxF -- "$row" || echo "$row"; done; }
differing >limits.new
while IFS=@ read -r name soft hard _; do
    case $name in
        'Max open files') limit nofile "$soft" "$hard" ;;
        'Max locked memory') limit memlock "$soft" "$hard" ;;
        'Max stack size') limit stack "$soft" "$hard" ;;
        'Max core file size') limit core "$soft" "$hard" ;;
        'Max processes') limit nproc "$soft" "$hard" ;;
        'Max address space') limit as "$soft" "$hard" ;;
        'Max file size') limit fsize "$soft" "$hard" ;;
        'Max data size') limit data "$soft" "$hard" ;;
        'Max realtime priority') limit rtprio "$soft" "$hard" ;;
        'Max nice priority') limit nice "$soft" "$hard" ;;
    esac
done <limits.new
group() { sed -n 's/^0::/&/p; s/^[0-9]*:name=systemd:/&/p' "$1" | sed 's/session-[0-9c]*\.scope/session.scope/' | head -n 1; }
cpus() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$$/status; }
allowed=$(cat cpus) score=$(cat oom) wanted=$(cat nice)
[ "$(cpus)" = "$allowed" ] || taskset -pc "$allowed" $$ >/dev/null 2>&1
[ "$(cat /proc/$$/oom_score_adj)" = "$score" ] || { echo "$score" >/proc/$$/oom_score_adj; } 2>/dev/null
more=''
[ "$wanted" -eq "$own_nice" ] || { [ "$wanted" -lt "$own_nice" ] && [ "$(id -u)" -ne 0 ]; } || more="nice -n $((wanted - own_nice))"
{
    differing | while IFS=@ read -r name soft hard _; do echo "limit ($name) that was $soft"; done
    [ "$(cpus)" = "$allowed" ] || echo "set of CPUs that was $allowed"
    [ "$wanted" -eq "$own_nice" ] || [ -n "$more" ] || echo "priority (nice) that was $wanted"
    [ "$(group cgroup)" = "$(group /proc/$$/cgroup)" ] || echo "control group that was $(group cgroup)"
} >unlike

# Turns the words of a file, each ended by NUL, into shell commands that put them into $word one by one, then do $2.
# Bytes travel as octal digits: no word can mean anything to the shell, and line ends and empty words stay what they are.
words() {
    od -An -v -to1 "$1" | tr -d ' \n' | sed 's/.../\\0&/g; s/\\0000/@\
/g' | sed -n "s/^\(.*\)@\$/word=\$(printf %b '\1.'); word=\${word%.}; $2/p"
}
set --
eval "$(words environ 'case $word in [!=]*=*) set -- "$@" "$word" ;; esac')"
program=''
eval "$(words argv 'program=${program:-$word}; set -- "$@" "$word"')"
rm -f environ argv
# env would take such a name for one more variable.
case $program in '' | *=* | -*) echo "This command line cannot be launched: $program" >&2; exit 126 ;; esac
# A shell makes what it starts in the background deaf for SIGINT and SIGQUIT; newer coreutils can undo that.
hear=''
env --default-signal=INT,QUIT true 2>/dev/null && hear=--default-signal=INT,QUIT
umask "$(cat umask)"
cd -P -- cwd || exit 126
exec $more env -i $hear -- "$@"
