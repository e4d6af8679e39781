# Each is asked for once, and never taken from the environment of the login.
uid='' pidns='' corner=''
# ours FOLDER: prints it where it is a folder of this user, closed to others. Anybody may make something of any name in /tmp.
ours() {
    : "${uid:=$(id -u)}"
    set -- "$1" $(LC_ALL=C ls -ldn "$1" 2>/dev/null)
    case $2/$4 in drwx------*/"$uid") echo "$1" ;; *) return 1 ;; esac
}
# private BASE: prints this user's folder in BASE, and makes it; fails where there can be none.
private() {
    (umask 077 && mkdir "$1/bringup-${uid:=$(id -u)}") 2>/dev/null
    ours "$1/bringup-${uid:=$(id -u)}"
}
# place: prints the folder in which this user's actions are written down. It is the same for every login, whatever its
# TMPDIR and XDG_RUNTIME_DIR: two consoles have to see each other.
place() { private "$base"; }
# holds FOLDER TOKEN: the action in FOLDER is still the one that this token began; says so by its time, to others too.
holds() {
    [ -n "$2" ] && is_of "$1" "$2" || return 1
    touch "$1/claim" 2>/dev/null
    { read -r mark <"$1/mark" && [ -f "$mark" ] && [ ! -L "$mark" ] && touch -c "$mark"; } 2>/dev/null
    return 0
}
# here FOLDER: its action was begun where processes have the numbers that they have here. In another PID namespace
# (pid_namespaces(7)), as of a container with the same /tmp, they have others; nothing lives of before the machine was started
# anew. A claim of an older version does not tell. Sets boot to that of now, and of the claim began (its boot), up and above.
here() {
    began='' numbers='' up='' above=''
    while read -r key value; do
        case $key in boot) began=$value ;; pidns) numbers=$value ;; up) up=$value ;; above) above=$value ;; esac
    done <"$1/claim"
    read -r boot </proc/sys/kernel/random/boot_id
    [ -z "$numbers" ] || [ "$began" != "$boot" ] || [ "$numbers" = "${pidns:=$(readlink /proc/self/ns/pid)}" ] || [ -z "$pidns" ]
} 2>/dev/null
# out_of_sight FOLDER: it may be launched at this moment where nobody can tell that from here; for some minutes at most.
out_of_sight() { ! here "$1" && [ "$(cat "$1/step" 2>/dev/null)" = launching ] && [ "$(age "$1/step")" -lt 600 ]; }
# age FILE: seconds since it was changed; a day where that lies ahead, for the clock was set back.
age() {
    passed=$(($(date +%s) - $(date -r "$1" +%s 2>/dev/null || date +%s)))
    if [ "$passed" -lt -5 ]; then echo 86400; elif [ "$passed" -lt 0 ]; then echo 0; else echo "$passed"; fi
}
# drop FOLDER: an action is over, and all that was kept of it is removed. Without the ticket nothing that was begun can
# launch any more.
drop() {
    rm -f -- "$1/ticket"
    hidden=$(hidden "$1")
    rm -f -- "$hidden/environ" "$hidden/argv"
    ! read -r mark <"$1/mark" || rm -f -- "$mark"
    rm -rf -- "$hidden" "$1"
} 2>/dev/null
# launching FOLDER [WORK]: prints PID:START of the script that launches at this moment what is kept there, or does that WORK
# (at-work: a launcher's own start command); fails where none does.
launching() {
    number=0
    while read -r holder <"$1/${2:-turn}.$number"; do
        alive "$holder" && echo "$holder" && return
        number=$((number + 1))
    done 2>/dev/null
    return 1
}
# turn FOLDER [WORK]: lets one script at a time launch, whichever consoles ask for it; the next one when that has ended.
turn() {
    launching "$@" >/dev/null && return 1
    mine=$1/turn.of.$$
    identify $$ && echo "$$:$start" | cat >"$mine" && ln "$mine" "$1/${2:-turn}.$number" 2>/dev/null
    taken=$?
    rm -f -- "$mine"
    return "$taken"
}
# succeed FRESH FOLDER TOKEN: puts the claim FRESH in the place of that of TOKEN; of those who do so at once, one. Fails with
# 1 where another one did so, and with 2 where it cannot be written down, which is said.
succeed() {
    [ ! -e "$2/next" ] || [ "$(age "$2/next")" -lt 60 ] || rm -f -- "$2/next"
    ln "$1" "$2/next" 2>/dev/null || {
        # Once more, aloud, where nobody else is at it.
        [ ! -e "$2/next" ] && is_of "$2" "$3" || return 1
        ln "$1" "$2/next" || return 2
    }
    taken=1
    ! is_of "$2" "$3" || { mv -f -- "$1" "$2/claim" && taken=0 || taken=2; }
    rm -f -- "$2/next"
    return "$taken"
}
# is_of FOLDER TOKEN: the action there is the one that this token began.
is_of() { grep -qx "token $2" "$1/claim" 2>/dev/null; }
# over PID:START: its number was given away again, and that is not done while a process of its session lives.
over() { identify "${1%:*}" && [ "$start" != "${1#*:}" ]; }
# left PID:START: prints a process that lives on of the session which that one began.
left() {
    alive "$1" && echo "$1" && return
    ! over "$1" || return 1
    for other in /proc/[0-9]*; do
        identify "${other#/proc/}" && [ "$sid" = "${1%:*}" ] && [ "$start" -ge "${1#*:}" ] && [ "$state" != Z ] &&
            echo "${other#/proc/}:$start" && return
    done
    return 1
}
# again FOLDER: prints a process with the old server's command line (and directory, where that was kept) that was started
# since the action in FOLDER began.
again() {
    was=$(hidden "$1")/was
    [ -s "$was" ] || return 1
    since=$(sed -n 's/^ticks //p' "$1/claim")
    first=$(head -c 4096 "$was" | tr '\000' '\n' | head -n 1)
    # Not by cmp, which some hosts lack (diffutils); without od nothing could be written down.
    words=$(od -An -v -tx1 <"$was")
    [ -n "$words" ] || return 1
    for line in $(grep -lF -e "$first" /proc/[0-9]*/cmdline 2>/dev/null); do
        [ "$({ od -An -v -tx1 <"$line"; } 2>/dev/null)" = "$words" ] || continue
        other=${line#/proc/} other=${other%/cmdline}
        # What a launcher starts by its own command may have a directory that is only seen inside of its container.
        # That of a configured command is not the old server's.
        [ ! -L "$1/cwd" ] || [ -L "$1/last" ] || [ "/proc/$other/cwd" -ef "$1/cwd" ] || continue
        identify "$other" && [ "$state" != Z ] && [ "$start" -gt "${since:-0}" ] && echo "$other:$start" && return
    done
    return 1
}
# against FOLDER: prints what stands against a launch, "running PID:START" of the old server, "again PID:START" of a new one,
# or "unseen yes" where neither can be told from here; fails where nothing does.
against() {
    here "$1" || { echo "unseen yes"; return; }
    server=${1##*/}
    for member in $(cat "$1/members" 2>/dev/null) "${server%-*}:${server##*-}"; do
        alive "$member" && echo "running $member" && return
    done
    other=$(again "$1") && echo "again $other"
}
# thin FILE...: keeps the newest 64.
thin() { ls -t -- "$@" | tail -n +65 | while IFS= read -r oldest; do rm -f -- "$oldest"; done; } 2>/dev/null
# begin HOME PID:START WHERE: writes down for beginning.sh WHERE the log ended when that was launched, nowhere for "". That
# of the last 64 launches is kept.
begin() {
    rm -f -- "$1/${2%:*}":*.begins
    [ -z "$3" ] || printf '%s\n' "$3" >"$1/$2.begins"
    thin "$1"/*:*.begins
}
# end FOLDER: writes down for last_end.sh who has stopped the server of the action in FOLDER, or restarted it. That of the
# last 64 servers is kept.
end() {
    server=${1##*/} server=${server%-*}:${server##*-}
    grep -qx -e 'action stop' -e 'action restart' "$1/claim" && [ -s "$1/step" ] &&
        ! grep -qx claimed "$1/step" && ! alive "$server" || return 0
    (umask 077 && grep -e '^action ' -e '^who ' -e '^boot ' -e '^up ' "$1/claim" >"${1%/*}/$server.ended")
    thin "${1%/*}"/*:*.ended
} 2>/dev/null
# finds CWD ENVIRON PROGRAM: a server of that directory and environment would find its program (environ(7)), as far as
# can be told.
finds() (
    program() { [ -f "$1" ] && [ -x "$1" ]; }
    case $3 in
        '') exit ;;
        */*) ;;
        *)
            search=$({ tr '\n\000' ' \n' <"$2" | sed -n 's/^PATH=//p' | tail -n 1; } 2>/dev/null)
            [ -n "$search" ] || exit 0
            ;;
    esac
    cd -P -- "$1" 2>/dev/null || exit 0
    case $3 in */*) program "$3"; exit ;; esac
    set -f
    IFS=:
    for place in $search; do program "${place:-.}/$3" && exit; done
    exit 1
)
# crowded FILE: its file system has no room for the first lines of a log, or for one more file where it is none yet.
crowded() {
    set -- "$1" $(stat -f -c '%S %b %f %a %c %d' -- "${1%/*}/" 2>/dev/null)
    case $#$2$3$4$5$6$7 in 7*[!0-9]* | [!7]*) return 1 ;; esac
    room=$5
    [ "$4" = "$5" ] || [ "$(id -u)" -ne 0 ] || room=$4
    # mksh counts with 32 bits: large numbers are told by their length.
    few=$((65536 / ($2 > 0 ? $2 : 1)))
    { [ "$3" != 0 ] && [ ${#room} -lt 9 ] && [ "$room" -lt "$few" ]; } || { [ "$6" != 0 ] && [ "$7" = 0 ] && [ ! -e "$1" ]; }
}
