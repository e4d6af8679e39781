# What has become of what a launcher started, as its own tool tells it: one line that begins with
#   runs      it lives
#   waits     it does not run now, and comes up by itself or is being started
#   ended     it does not run, and nothing starts it again
# followed by the tool's own words. Nothing where the tool does not know it.

# container NAME TOOL...: docker and podman. One that is started again and again is told as running, too.
container() {
    name=$1
    shift
    "$@" inspect --format '{{with .State}}{{if .Restarting}}waits{{else if .Running}}runs{{else if eq .Status "created"}}waits{{else}}ended{{end}} {{.Status}}{{if or .Restarting (not .Running)}}, exit status {{.ExitCode}}{{if .OOMKilled}}, OOMKilled{{end}}{{with .Error}}: {{.}}{{end}}{{end}}{{end}}' "$name"
}
# unit NAME SYSTEMCTL...: the states of systemctl(1).
unit() {
    name=$1
    shift
    told=$("$@" show -p LoadState -p ActiveState -p SubState -p Result -p ExecMainStatus "$name") || return
    of() { printf '%s\n' "$told" | sed -n "s/^$1=//p"; }
    [ "$(of LoadState)" != not-found ] || return 1
    became="$(of ActiveState) ($(of SubState))" why=", result $(of Result), exit status $(of ExecMainStatus)"
    case $became in
        ' '*) ;;
        failed* | inactive*) echo "ended $became$why" ;;
        activating*) echo "waits $became$why" ;;
        *) echo "runs $became" ;;
    esac
}
# program NAME FILE: a program of supervisord, which reads that file. One in BACKOFF is tried again.
program() {
    told=$(supervisorctl -c "$2" status "$1" | sed -n '1s/^[^ ]*  *//p')
    case $told in
        RUNNING*) echo "runs $told" ;;
        STARTING* | BACKOFF*) echo "waits $told" ;;
        STOPPED* | EXITED* | FATAL*) echo "ended $told" ;;
    esac
}
# kept_up NAME TOOL...: a service of runit or s6, by what is wanted of it.
kept_up() {
    name=$1
    shift
    told=$("$@" "$name" | head -n 1)
    case $told in
        run* | up*) echo "runs $told" ;;
        finish* | *'want up'*) echo "waits $told" ;;
        down*) echo "ended $told" ;;
    esac
}
# job NUMBER: a job of Slurm (scontrol(1)). What the state is stands in Reason, for one that waits too.
job() {
    told=$(scontrol -o show job "$1" | head -n 1 | tr ' ' '\n')
    of() { printf '%s\n' "$told" | sed -n "s/^$1=//p" | head -n 1; }
    case $(of JobState) in
        '') ;;
        PENDING | CONFIGURING | REQUEUED | SUSPENDED) echo "waits $(of JobState), reason $(of Reason)" ;;
        RUNNING | COMPLETING) echo "runs $(of JobState)" ;;
        *) echo "ended $(of JobState), reason $(of Reason), exit status $(of ExitCode)" ;;
    esac
}
# pod POD: of Kubernetes. One whose image cannot be pulled, or whose container ends again and again, waits.
pod() {
    told=$(kubectl get "$1" -o 'jsonpath={.status.phase}{range .status.containerStatuses[*].state.waiting}, {.reason}: {.message}{end}{range .status.containerStatuses[*].state.terminated}, {.reason}, exit status {.exitCode}{end}{range .status.conditions[?(@.reason=="Unschedulable")]}, {.reason}: {.message}{end}')
    case $told in
        Failed* | Succeeded*) echo "ended $told" ;;
        Running) echo "runs $told" ;;
        Running* | Pending*) echo "waits $told" ;;
    esac
}
