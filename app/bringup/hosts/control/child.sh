# Argument: FOLDER. Becomes the server that capture.sh kept in FOLDER. Whoever takes the ticket launches: there is one.
folder=$1
cd "$folder" && mv ticket taken 2>/dev/null || exit 75
umask 077
# What is not written down could be launched a second time.
identify $$ && echo "$$:$start" >new.new && mv -f new.new new || { mv taken ticket; exit 74; }
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
while read -r line; do
    case $line in
        'scheduling class that was batch') chrt -b -p 0 $$ ;;
        'scheduling class that was idle') chrt -i -p 0 $$ ;;
        'scheduling class that was fifo '*) chrt -f -p "${line##* }" $$ ;;
        'scheduling class that was rr '*) chrt -r -p "${line##* }" $$ ;;
        'I/O priority that was realtime:'*) ionice -c 1 -n "${line##* }" -p $$ ;;
        'I/O priority that was best-effort:'*) ionice -c 2 -n "${line##* }" -p $$ ;;
        'I/O priority that was idle') ionice -c 3 -p $$ ;;
    esac
done <scheduled >/dev/null 2>&1
# With the priority that it will have: a kernel may tell that of I/O by it.
scheduled $$ "$($more sh -c 'ionice -p $$' 2>/dev/null)" >scheduled.new
{
    grep -vxF -f scheduled.new scheduled
    differing | while IFS=@ read -r name soft hard _; do echo "limit ($name) that was $soft"; done
    [ "$(cpus)" = "$allowed" ] || echo "set of CPUs that was $allowed"
    [ "$wanted" -eq "$own_nice" ] || [ -n "$more" ] || echo "priority (nice) that was $wanted"
    [ "$(group cgroup)" = "$(group /proc/$$/cgroup)" ] || echo "control group that was $(group cgroup)"
} >unlike

hidden=$(cat hidden)
umask "$(cat umask)"
cd -P -- cwd || exit 126
# The environment must not be in anybody's command line, not even for a moment: whoever is on the host could read it
# there. Perl and Python start a program with any environment; a shell cannot set every name.
unset PERL5OPT PERL5LIB PERLLIB PERL5DB
if perl -e 1 2>/dev/null; then exec $more perl "$folder/become.pl" "$hidden"; fi
if python3 -I -S -c '' 2>/dev/null; then exec $more python3 -I -S "$folder/become.py" "$hidden"; fi
exec $more env -i "PATH=$PATH" sh "$folder/become.sh" "$hidden" "$folder/unlike"
