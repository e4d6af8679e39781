# Arguments: FOLDER UNLIKE. Becomes the program whose command line (argv) and environment (environ) lie in FOLDER, each word
# ended by NUL; both are removed first. For hosts without perl and python3, under a shell that was started with nothing
# but PATH in its environment. Adds to the file UNLIKE which variables a shell cannot set.
hidden=$1 unlike=$2
case $(command -v printf) in */*) echo "Neither perl nor python3 is there, and sh has no printf of its own." >&2; exit 126 ;; esac

# Turns the words of a file into shell commands, $2 and the word with a full stop after it. Bytes travel as octal digits:
# no word can mean anything to the shell, and line ends and empty words stay what they are.
words() {
    od -An -v -to1 "$hidden/$1" | tr -d ' \n' | sed 's/.../\\0&/g; s/\\0000/@\
/g' | sed -n "s/^\(.*\)@\$/$2 \"\$(printf %b '\1.')\"/p"
}
# can PAIR: this shell can set it; bash keeps some names for itself.
can() {
    case ${1%%=*} in '' | [0-9]* | *[!A-Za-z0-9_]*) return 1 ;; esac
    [ -z "$BASH_VERSION" ] || case ${1%%=*} in _ | RANDOM | SRANDOM | SECONDS | LINENO | EPOCH* | BASH*) return 1 ;; esac
    (export "$1") 2>/dev/null
}
tell() {
    case $1 in [!=]*=*) ;; *) return ;; esac
    can "${1%.}" || printf 'variable %s of its environment (neither perl nor python3 is there to set it)\n' "${1%%=*}"
}
# From here on any variable may be the server's: only what stands in "$@" is still ours.
put() { case $1 in [!=]*=*) ! can "${1%.}" || export "${1%.}" ;; esac; }

eval "set -- $(words argv '' | tr '\n' ' ')"
for word; do shift && set -- "$@" "${word%.}"; done
case $1 in '' | *=* | -*) echo "This command line cannot be launched: $1" >&2; exit 126 ;; esac
env=$(command -v env)
# A shell makes what it starts in the background deaf for these; newer coreutils can undo that.
if env --default-signal=INT,QUIT true 2>/dev/null; then set -- "$env" --default-signal=INT,QUIT -- "$@"; fi
# bash counts its own end in SHLVL.
level=''
if [ -n "$BASH_VERSION" ]; then
    if tr '\000' '\n' <"$hidden/environ" | grep -q '^SHLVL='; then level='export SHLVL=$((SHLVL + 1))'; else set -- "$env" -u SHLVL "$@"; fi
fi
eval "$(words environ tell)" >>"$unlike"
environment="$(words environ put)
$level"
rm -f -- "$hidden/environ" "$hidden/argv"
unset PATH PWD OLDPWD SHLVL
eval "$environment"
exec "$@"
