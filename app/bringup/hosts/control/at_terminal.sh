# Arguments: PID... Prints those whose standard input is a terminal.
for pid; do
    case $(readlink "/proc/$pid/fd/0") in /dev/pts/* | /dev/tty* | /dev/console) echo "$pid" ;; esac
done 2>/dev/null
