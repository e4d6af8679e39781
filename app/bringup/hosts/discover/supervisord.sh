# Arguments: SUPERVISORD PID PIDS. Tells which program of supervisord a server is, PID or what stands above it (PIDS), and
# where its output goes (launchers.toml).
told=''
if trusted "$1"; then
    # The file that it reads: as it was told, else where it looks by itself.
    cd "/proc/$1/cwd" 2>/dev/null
    told=$(tr '\000' '\n' <"/proc/$1/cmdline" | sed -n '/^-c$/{n;p;}; /^--configuration$/{n;p;}; s/^-c\(.\)/\1/p; s/^--configuration=//p')
    for file in "$told" supervisord.conf etc/supervisord.conf /etc/supervisord.conf /etc/supervisor/supervisord.conf; do
        [ ! -f "$file" ] || break
    done
    case $file in /*) ;; *) file=$(pwd -P)/$file ;; esac
    echo "place=$file"
    # Python looks for modules where it is.
    cd /
    said=$(supervisorctl -c "$file" status)
    printf '%s\n' "$said" | sed -n 's/^\([^ ]*\) .*[ ]pid \([0-9]*\),.*/\2 \1/p' | while read -r main program; do
        case " $3 " in *" $main "*) echo "main=$main"; echo "name=$program" ;; esac
    done
    case $said in *' pid '*) ;; *) printf '%s\n' "$said" >&2 ;; esac
    # supervisorctl does not show the files of a program; its own library asks supervisord for them, whatever they are called.
    told=$(
        python=$(sed -n '1s/^#! *//p' "$(command -v supervisorctl)")
        case $python in *python*) ;; *) exit ;; esac
        $python -c '
import sys
from supervisor.options import ClientOptions
options = ClientOptions()
options.realize(["-c", sys.argv[1]])
for each in options.getServerProxy().supervisor.getAllProcessInfo():
    if str(each["pid"]) in sys.argv[2].split():
        print("out", each["stdout_logfile"] or "")
        print("err", each["stderr_logfile"] or "")
' "$file" "$3"
    ) 2>/dev/null
fi
[ -z "$told" ] || printf '%s\n' "$told" | while read -r stream log; do
    case $log in /dev/stdout) log=/dev/fd/1 ;; /dev/stderr) log=/dev/fd/2 ;; esac
    case $log in /dev/fd/*) log=$(readlink "/proc/$1/fd/${log##*/}") ;; esac
    case $log in /*) goes "$stream" "$log" ;; esac
done
# Where it cannot be asked, a file that is called by the program's name is the program's.
name=$(tr '\000' '\n' <"/proc/$2/environ" | sed -n 's/^SUPERVISOR_PROCESS_NAME=//p' | head -n 1)
[ -z "$told" ] && case $name in '' | *[!A-Za-z0-9_-]*) ;; *)
    logs=$(ls -l "/proc/$1/fd/" | sed -n 's|^l.w.* -> \(/.*\)$|\1|p' | sort -u |
        grep -E "/([^/]*[^A-Za-z0-9/])?$name([^A-Za-z0-9/][^/]*)?\$")
    out=$(printf '%s\n' "$logs" | grep -Ev '(std|[^A-Za-z])err[^/]*$') err=$(printf '%s\n' "$logs" | grep -E '(std|[^A-Za-z])err[^/]*$')
    [ "$(printf '%s\n' "$out" | wc -l)" -gt 1 ] || goes out "$out"
    [ "$(printf '%s\n' "$err" | wc -l)" -gt 1 ] || goes err "$err" ;;
esac 2>/dev/null
