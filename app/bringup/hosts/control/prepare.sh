# Arguments: FOLDER TOKEN CWD LOG COMMAND SIZE. Keeps what launch.sh needs for a shell command: the environment of this
# login with the SIZE bytes of variables, each ended by NUL, on the standard input, and the limits of this very shell.
folder=$1 token=$2 cwd=${3:-$HOME} log=${4:-/dev/null} command=$5 size=$6
holds "$folder" "$token" || { echo lost; exit; }
umask 077
cd -P -- "$cwd" || exit
case $log in /*) ;; *) log=$PWD/$log ;; esac
hidden=$(hide "$folder")
# Of two of the same name the last one counts.
{ cat /proc/$$/environ && head -c "$size"; } >"$hidden/environ" && printf 'sh\000-c\000%s\000' "$command" >"$hidden/argv" || exit
echo 022 >"$folder/umask"
identify $$ && echo "$nice" >"$folder/nice"
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$$/status >"$folder/cpus"
cat /proc/$$/limits >"$folder/limits"
cat /proc/$$/cgroup >"$folder/cgroup"
cat /proc/$$/oom_score_adj >"$folder/oom"
echo append >"$folder/out-how"
echo append >"$folder/err-how"
ln -sfn -- "$PWD" "$folder/cwd" && ln -sfn -- "$log" "$folder/out" && ln -sfn -- "$log" "$folder/err" &&
    : >"$folder/ticket" && watch_over "$folder" "$hidden" && echo kept
