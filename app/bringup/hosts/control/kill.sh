# Arguments: PID:START... / PID:START... The processes of a server and, behind the stroke, what is apart from it. Each is
# stopped (SIGSTOP) first, if it is the one that started then: what is stopped starts nothing any more, and what it has
# started by then is still its child, whatever session or group that has made for itself. Such a child is the server's, and
# is stopped too, until no new one is found; then all of them get SIGKILL. Prints for each: its PID and sent, gone, reused
# or denied; then "found", and what describe.sh tells of the children that were found here.
all=" $* " fates='' held='' closed='' parents='' found=''
apart="${all#*/} "
# Nothing is left stopped because a connection is lost: whoever watches over it ends all its scripts by SIGTERM.
trap '' HUP PIPE TERM
pause() { sleep 0.02 2>/dev/null || sleep 1; }
fate() { fates="$fates$1 $2
"; }
# hold PID:START: stops it. What may not be signalled stays as it is, and its children are the server's all the same.
hold() {
    if kill -s STOP "${1%:*}" 2>/dev/null; then held="$held $1"
    elif alive "$1"; then closed="$closed $1"
    else return
    fi
    parents="$parents${parents:+|}${1%:*}"
}
for pair in ${all%%/*}; do
    pid=${pair%:*}
    if ! identify "$pid" || [ "$state" = Z ]; then fate "$pid" gone
    elif [ "$start" != "${pair#*:}" ]; then fate "$pid" reused
    elif ! hold "$pair"; then fate "$pid" gone
    fi
done
for pair in $closed; do fate "${pair%:*}" denied; done
# parent PID: it is one of those, and no other process by that number.
parent() { for pair in $held $closed; do [ "${pair%:*}" = "$1" ] && alive "$pair" && return; done; return 1; }
# Prints the running children of those that are none of them: PID:START of each.
children() {
    for file in $(grep -lE "^PPid:[[:space:]]*($parents)\$" /proc/[0-9]*/status 2>/dev/null); do
        child=${file#/proc/} child=${child%/status}
        identify "$child" && [ "$state" != Z ] || continue
        case "|$parents|" in *"|$child|"*) continue ;; esac
        child=$child:$start
        case $apart in *" $child "*) ;; *) ! parent "$ppid" || echo "$child" ;; esac
    done
}
stopped() {
    for pair in $held; do
        identify "${pair%:*}" || continue
        case $state in [TtZX]) ;; *) return 1 ;; esac
    done
}
round=0
while [ -n "$parents" ] && [ "$round" -lt 10 ]; do
    stopped && still=yes || still=no
    fresh=$(children)
    for pair in $fresh; do alive "$pair" && hold "$pair" && found="$found $pair"; done
    [ -n "$fresh" ] || [ "$still" = no ] || break
    [ -n "$fresh" ] || pause
    round=$((round + 1))
done
told=''
[ -z "$found" ] || told=$(for pair in $found; do describe "${pair%:*}"; done)
for pair in $held; do
    if alive "$pair" && kill -s KILL "${pair%:*}" 2>/dev/null; then fate "${pair%:*}" sent; else fate "${pair%:*}" gone; fi
done
printf '%sfound\n%s\n' "$fates" "$told"
