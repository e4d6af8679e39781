# Tells which version of a package a process would import, by the names of folders. Arguments: PID PACKAGE
# Prints names such as sglang-0.5.9.dist-info, those of the interpreter that runs first. Nothing is imported or started.
pid=$1 package=$2
LC_ALL=C PATH=$PATH:/usr/bin:/bin
export LC_ALL PATH
exec 2>/dev/null

root=''
ours=$(readlink /proc/self/ns/mnt) theirs=$(readlink "/proc/$pid/ns/mnt")
[ -z "$theirs" ] || [ "$ours" = "$theirs" ] || root=/proc/$pid/root

# Where its libraries lie: what it has mapped of them, the environment that it was started in, the program itself.
places() {
    sed -n 's|^[^/]*\(/.*/[a-z]*-packages\)/.*|\1|p' "/proc/$pid/maps" | awk '!seen[$0]++'
    tr '\0\n' '\n?' <"/proc/$pid/environ" | sed -n 's/^VIRTUAL_ENV=//p; s/^CONDA_PREFIX=//p' | head -n 2
    tr '\0\n' '\n?' <"/proc/$pid/cmdline" | head -n 2 | sed -n 's|^\(/.*\)/bin/[^/]*$|\1|p'
    readlink "/proc/$pid/exe" | sed -n 's|^\(/.*\)/bin/[^/]*$|\1|p'
}

places | head -n 32 | while IFS= read -r place; do
    for folder in "$root$place" "$root$place"/lib/python3*/site-packages "$root$place"/lib/python3*/dist-packages \
        "$root$place"/local/lib/python3*/dist-packages; do
        case $folder in */site-packages | */dist-packages) ;; *) continue ;; esac
        for info in "$folder/$package"-*.dist-info; do
            [ -d "$info" ] && printf '%s\n' "${info##*/}"
        done
    done
done | head -n 8
