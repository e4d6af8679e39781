# Tells which files of a model lie on this host. Needs a POSIX sh with awk, dd, od, ls, sed, tr, head and tail.
# Arguments: SCANNER PID MODEL REVISION CACHE NAMES
#   SCANNER   the text of names.awk
#   PID       the server: its directory, environment, mounts and root say where MODEL is
#   MODEL     a folder, a file, or the name of a repository of the Hugging Face hub
#   REVISION  branch, tag or commit of the repository
#   CACHE     folder that the server was told to keep repositories in; empty: as its environment says
#   NAMES     how many weight names are asked for; 0: none, and no file is opened for them
# Rows of TAB-separated fields: D folder · M type of the file system · F size name · L name (a pointer of git-lfs)
#   I, N, A as names.awk says · O name (its header is too long or none) · E the end. Nothing at all: no such folder.
scanner=$1 pid=$2 model=$3 revision=$4 cache=$5 names=$6
LC_ALL=C QUOTING_STYLE=literal PATH=$PATH:/usr/bin:/bin
export LC_ALL QUOTING_STYLE PATH
exec 2>/dev/null
longest_header=16777216 longest_index=512 most_files=4096 most_headers=16

# What the process sees may be another tree of mounts than ours.
root=''
ours=$(readlink /proc/self/ns/mnt) theirs=$(readlink "/proc/$pid/ns/mnt")
[ -z "$theirs" ] || [ "$ours" = "$theirs" ] || root=/proc/$pid/root

variable() { tr '\0\n' '\n?' <"/proc/$pid/environ" | sed -n "s/^$1=//p" | head -n 1; }

# Sets $folder to the snapshot of repository $model: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
find_snapshot() {
    [ -n "$cache" ] || cache=$(variable HF_HUB_CACHE)
    [ -n "$cache" ] || cache=$(variable HUGGINGFACE_HUB_CACHE)
    if [ -z "$cache" ]; then
        cache=$(variable HF_HOME)
        [ -n "$cache" ] || { cache=$(variable XDG_CACHE_HOME); cache=${cache:+$cache/huggingface}; }
        [ -n "$cache" ] || { cache=$(variable HOME); cache=${cache:-$HOME}/.cache/huggingface; }
        cache=$cache/hub
    fi
    store=$cache/models--$(printf '%s\n' "$model" | sed 's|/|--|g')
    commit=$revision
    [ ! -r "$root$store/refs/$revision" ] || read -r commit <"$root$store/refs/$revision" || [ -n "$commit" ]
    folder=$store/snapshots/$commit
}

only=''
case $model in
    /*) folder=$model ;;
    *) folder=$(readlink "/proc/$pid/cwd")/$model ;;
esac
if [ -f "$root$folder" ]; then only=${folder##*/} folder=${folder%/*}; fi
[ -d "$root$folder" ] || case $model in
    /* | *://* | ./* | ../*) exit 0 ;;
    *) find_snapshot ;;
esac
cd -P "$root$folder/" || exit 0
here=$(pwd -P)
case $here in
    "$root"/*) folder=${here#"$root"} ;;
esac
printf 'D\t%s\n' "$(printf %s "$folder" | tr '\t\n' '??')"

# proc_pid_mountinfo(5): of the mounts above a folder the deepest counts, and of several there the last.
folder=$folder awk '
    {
        point = $5
        gsub(/\\040/, " ", point); gsub(/\\011/, "\t", point); gsub(/\\012/, "\n", point); gsub(/\\134/, "\\", point)
        if (point != "/" && ENVIRON["folder"] != point && index(ENVIRON["folder"], point "/") != 1) next
        if (length(point) < best) next
        best = length(point)
        for (i = 6; i < NF && $i != "-"; i++);
        type = $(i + 1)
    }
    END { if (type != "") print "M\t" type }' "/proc/$pid/mountinfo"

# GNU ls writes any byte of a name unless it is told to mark those that are no letters; busybox always does.
mark=''
! ls -qd / >/dev/null || mark=q
if [ -n "$only" ]; then set -- "./$only"; else set -- ./*.safetensors ./*.bin ./*.pt ./*.pth ./*.gguf; fi
ls -lnLd$mark -- "$@" | awk -v most="$most_files" '
    /^-/ && NF >= 9 {
        size = $5
        for (i = 1; i <= 8; i++) sub(/^[^ ]+ +/, "")
        sub(/^\.\//, "")
        if (n++ < most) print size "\t" $0
    }' | while IFS='	' read -r size name; do
    printf 'F\t%s\t%s\n' "$size" "$name"
    if [ "$size" -gt 0 ] && [ "$size" -lt 1024 ] && head -c 64 "./$name" | grep -q '^version https://git-lfs'; then
        printf 'L\t%s\n' "$name"
    fi
done

# --- what the text files beside them say ---

scan() { awk -v want="$1" -v most="$names" "$scanner"; }

for index in model.safetensors.index.json pytorch_model.bin.index.json; do
    [ -f "$index" ] || continue
    dd if="$index" bs=65536 count=$longest_index | scan index
    break
done
[ ! -f config.json ] || dd if=config.json bs=65536 count=16 | scan config

# --- the headers alone: a length of eight bytes, lowest first, and as many bytes of JSON ---

read_header() {
    length=$(($1 + 256 * $2 + 65536 * $3 + 16777216 * $4))
    if [ $(($5 + $6 + $7 + $8)) != 0 ] || [ $length -gt $longest_header ]; then return 1; fi
    tail -c +9 "$file" | head -c $length | scan header
}

if [ "$names" != 0 ] && [ ! -f "$index" ]; then
    [ -n "$only" ] || set -- ./*.safetensors
    read=0
    for file; do
        case $file in *.safetensors) ;; *) continue ;; esac
        [ -f "$file" ] && [ $read -lt $most_headers ] || continue
        read=$((read + 1))
        set -- $(od -An -tu1 -N 8 "$file")
        [ $# = 8 ] && read_header "$@" || printf 'O\t%s\n' "$(printf %s "${file#./}" | tr '\t\n' '??')"
    done
fi
printf 'E\n'
