# Samples a tree of processes for ever. Variables: root, port, every (see probe.sh). One grep a sample reads all files: one
# that vanishes or may not be read is passed over, which no awk's own getline can be trusted with.

function flush_rows() { printf "%s", out; fflush(); out = "" }
function put(row) {
    if (length(out) + length(row) > 3000) flush_rows()
    out = out row "\n"
}
function clean(text) {
    gsub("[\001-\037\177]", "?", text)
    return substr(text, 1, 2000)
}
function quote(text) {
    gsub(/'/, "'\\''", text)
    return "'" text "'"
}

# Who is there: the numbers of all processes, and every 60th time their parents, so that a number used again is noticed.
function list(all,   cmd, line, got, id, n, i) {
    cmd = "cd /proc; " (tick > 1 ? "sleep " every " || exit; " : "")
    if (all) cmd = cmd "read -r up _ <uptime; echo K $(date +%s.%N) $up; "
    cmd = cmd (all ? "exec grep -H ')' [0-9]*/stat" : "echo L [0-9]*") " 2>/dev/null"
    split("", parent); split("", now)
    for (got = 0; (cmd | getline line) > 0; got++) {
        n = split(line, id, /[ \/]/)
        if (id[1] == "K") put("K\t" id[2] "\t" id[3])
        else if (id[1] == "L") for (i = 2; i <= n; i++) { now[id[i]]; if (!(id[i] in member || id[i] in other)) parent[id[i]] = "" }
        else if (match(line, /.*\) /)) { split(substr(line, RLENGTH + 1), field, " "); now[id[1]]; parent[id[1]] = field[2] }
    }
    close(cmd)
    if (!got) exit
    for (i in other) if (all || !(i in now)) delete other[i]
}

# Those whose parent belongs to the tree belong to it; the others are remembered as strangers.
function adopt(   p, more) {
    for (more = 1; more; ) {
        more = 0
        for (p in parent) if (!(p in member) && parent[p] in member) { member[p]; born[p] = tick; more = 1 }
    }
    for (p in parent) if (parent[p] != "" && !(p in member)) other[p]
}

function forget(p) {
    delete words[p]; delete member[p]; delete born[p]; delete start[p]; delete last[p]; delete name[p]; delete title[p]
    delete uid[p]; delete chars[p]; delete bytes[p]; delete wait[p]; delete size[p]; delete sized[p]; delete shown[p]
    delete idle[p]; delete moved[p]
}

# Reads all files of the tree; `text`, and what else changes, is of this sample. Idle processes are looked at less closely.
function read_files(   cmd, p, at, file, rest, f) {
    cmd = "cd /proc; exec grep -H -e ') ' -e '^rchar' -e '^read_bytes' -e '^Uid' -e '^[^: ]*$' -e '^[0-9.]* [0-9.]*$'"
    if (asks_port) cmd = cmd " -e ':" port " 0*:0000 0A '"
    cmd = cmd " uptime"
    for (p in member) {
        cmd = cmd " " p "/stat"
        if (!(p in idle) || (tick + p) % 8 == 0) cmd = cmd " " p "/io " p "/wchan"
        if (!(p in uid)) cmd = cmd " " p "/status"
    }
    for (p in parent) if (!(p in member)) cmd = cmd " " p "/stat " p "/io " p "/wchan " p "/status"
    if (asks_port) cmd = cmd (root in member ? " " root "/net/tcp " root "/net/tcp6" : " net/tcp net/tcp6")
    cmd = cmd " 2>/dev/null"
    split("", text); listening = ""
    while ((cmd | getline line) > 0) {
        at = index(line, ":")
        rest = substr(line, at + 1)
        split(substr(line, 1, at - 1), file, "/")
        p = file[1]
        if (p == "uptime") { split(rest, f, " "); up = f[1] }
        else if (file[2] == "stat") text[p] = text[p] rest
        else if (file[2] == "wchan") wait[p] = rest
        else if (file[2] == "net" || p == "net") { split(rest, f, " "); listening = listening " " f[10] }
        else {
            split(rest, f, " ")
            if (f[1] == "rchar:") chars[p] = f[2]
            else if (f[1] == "read_bytes:") bytes[p] = f[2]
            else if (f[1] == "Uid:") uid[p] = f[2]
        }
    }
    close(cmd)
    for (p in parent) if (p in text && match(text[p], /.*\) /)) { split(substr(text[p], RLENGTH + 1), f, " "); parent[p] = f[2] }
}

# One row for each process that changed, and one for those that did not.
function tell_processes(   p, f, tail, comm, now_is, same, count) {
    put("B\t" up)
    count = 0
    for (p in member) {
        if (!match(text[p], /.*\) /)) { forget(p); continue }
        tail = substr(text[p], RLENGTH + 1)
        split(tail, f, " ")
        if (p in start && start[p] != f[20]) { forget(p); continue }
        start[p] = f[20]
        comm = clean(substr(text[p], index(text[p], "(") + 1, RLENGTH - 2 - index(text[p], "(")))
        tell_user(p)
        now_is = f[1] " " f[2] " " f[3] " " f[4] " " f[8] " " f[10] " " f[12] " " f[13] " " f[18] " " f[20] " " f[22]
        now_is = now_is "\t" chars[p] "\t" bytes[p] "\t" uid[p] "\t" clean(wait[p]) "\t" comm
        # The name and the place of the arguments change with what exec and setproctitle do to the command line.
        name[p] = comm " " f[46]
        size[p] = f[1] " " f[8] " " f[10] " " f[21]
        count++
        if (last[p] == now_is) { idle[p]; same = same " " p; if (length(same) > 2000) { put("S\t" same); same = "" } }
        else { delete idle[p]; moved[p]; last[p] = now_is; put("P\t" p " " now_is) }
    }
    if (same != "") put("S\t" same)
    return count
}

function tell_user(p,   cmd, line, f) {
    if (!(p in uid) || uid[p] in user) return
    cmd = "ls -ld /proc/" p " 2>/dev/null"
    if ((cmd | getline line) > 0) { split(line, f, " "); user[uid[p]] = f[3] }
    close(cmd)
    put("U\t" uid[p] "\t" clean(user[uid[p]]))
}

# The command that prints a command line without anything that could break a row.
function read_title(file) {
    return "tr '\\000\\011\\012\\015\\001-\\010\\013\\014\\016-\\037\\177' '    ?' <" file
}

# Command lines of processes that are not just passing by: where something hints at a change, else now and then.
function tell_titles(   cmd, p, line, at) {
    for (p in member) {
        if ((tick > 1 && born[p] == tick) || (name[p] == title[p] && (!(p in moved) || (tick + p) % 20))) continue
        title[p] = name[p]
        delete moved[p]
        cmd = cmd " " p
    }
    if (cmd == "") return
    cmd = "cd /proc; for p in" cmd "; do printf '%s:' $p; " read_title("$p/cmdline") "; echo; done 2>/dev/null"
    while ((cmd | getline line) > 0) {
        at = index(line, ":")
        p = substr(line, 1, at - 1)
        line = substr(line, at + 1, 2000)
        sub(/ +$/, "", line)
        if (words[p] != line) put("T\t" p "\t" line)
        words[p] = line
    }
    close(cmd)
}

# Checkpoint files in the maps. Reading them costs the kernel and holds up page faults: only where memory changed since, and
# not sooner than leaves it at a hundredth of the time.
function tell_maps(   cmd, p, line, at, file, path, from, to, seen) {
    if (up + 0 < maps_at) return
    for (p in member) if (size[p] != sized[p] && born[p] < tick + (tick == 1)) { sized[p] = size[p]; cmd = cmd " " p "/maps"; seen[p] = "!" }
    if (cmd == "") return
    cmd = "cd /proc; read -r a _ <uptime; grep -H -E '\\[(stack|heap|vdso)|/.*\\.(safetensors|bin|pt|pth|gguf)( \\(deleted\\))?$|/blobs/[0-9a-f]{40,}$'" \
        cmd " 2>/dev/null; read -r b _ <uptime; echo T $a $b"
    while ((cmd | getline line) > 0) {
        at = index(line, "/maps:")
        if (!at) { split(line, file, " "); from = file[2]; to = file[3]; continue }
        p = substr(line, 1, at - 1)
        if (seen[p] == "!") seen[p] = ""
        line = substr(line, at + 6)
        if (!(at = index(line, "/"))) continue
        path = "\n" substr(line, at)
        if (substr(seen[p], length(seen[p]) - length(path) + 1) != path) seen[p] = seen[p] path
    }
    close(cmd)
    cost = 0.7 * cost + 0.3 * (to - from)
    maps_at = up + (cost > 0.1 ? 10 : 100 * cost)
    for (p in seen) if (!(p in shown) || shown[p] != seen[p]) tell_changes(p, seen[p])
}

function tell_changes(p, seen,   before, after, old, new, n, i) {
    if (seen == "!") put("M\t" p "\t!")
    else if (!(p in shown) || shown[p] == "!") put("M\t" p "\t=")
    n = split(p in shown ? shown[p] : "", before, "\n")
    for (i = 1; i <= n; i++) if (before[i] ~ /^\//) old[before[i]]
    n = split(seen, after, "\n")
    for (i = 1; i <= n; i++) if (after[i] ~ /^\//) new[after[i]]
    for (i in old) if (!(i in new)) put("M\t" p "\t-\t" file_name(p, i))
    for (i in new) if (!(i in old)) put("M\t" p "\t+\t" file_name(p, i))
    shown[p] = seen
}

# In a Hugging Face cache the maps name a blob by its hash; the snapshots beside it are links with the names to show.
function file_name(p, path,   at, store, cmd, line, f, place) {
    if (path !~ /\/blobs\/[0-9a-f]+$/) return clean(path)
    match(path, /\/blobs\/[0-9a-f]+$/)
    store = substr(path, 1, RSTART - 1)
    if (!(store in stores)) {
        stores[store]
        cmd = "cd " quote("/proc/" p "/root" store "/snapshots") " && ls -l */ /dev/null 2>/dev/null"
        while ((cmd | getline line) > 0) {
            if (line ~ /\/:$/) place = store "/snapshots/" substr(line, 1, length(line) - 1)
            else if (line ~ / -> .*\/blobs\/[0-9a-f]+$/ && split(line, f, " ") >= 11) link[store substr(line, match(line, /\/blobs\/[0-9a-f]+$/))] = place f[9]
        }
        close(cmd)
    }
    return clean(path in link ? link[path] : path)
}

# Who holds the listening socket: the root, else one of its tree, else (asked once for each socket) whoever can be seen.
function tell_port(   p, tree, cmd) {
    if (!asks_port) return
    if (listening == "") { put("L\t" port "\t-\t"); return }
    if (listening != holding) {
        holding = listening
        for (p in member) if (p != root) tree = tree " /proc/" p "/fd/"
        holder = ""
        if (root in member) holder = find_holder(" /proc/" root "/fd/")
        if (holder == "" && tree != "") holder = find_holder(tree)
        holder_title = ""
        if (holder == "" && (holder = find_holder(" /proc/[0-9]*/fd/")) != "") {
            cmd = "for p in " holder "; do " read_title("/proc/$p/cmdline") "; done 2>/dev/null"
            cmd | getline holder_title
            close(cmd)
        }
    }
    put("L\t" port "\t" (holder == "" ? 0 : holder) "\t" (holder in words ? "" : holder_title))
}

function find_holder(folders,   cmd, line, at, pid, found, f, i, n) {
    n = split(listening, f, " ")
    cmd = "ls -l" folders " /dev/null 2>/dev/null | grep -e '^/proc/.*:$'"
    for (i = 1; i <= n; i++) cmd = cmd " -e 'socket:." f[i] "]$'"
    while ((cmd | getline line) > 0) {
        if (line ~ /^\/proc/) { split(line, f, "/"); pid = f[3] }
        else if (found == "" || pid + 0 < found + 0) found = pid
    }
    close(cmd)
    return found
}

BEGIN {
    member[root]; born[root] = 0
    for (tick = 1; ; tick++) {
        asks_port = port != "" && tick % 3 == 1
        list(tick % 60 == 1)
        adopt()
        read_files()
        adopt()
        count = tell_processes()
        tell_titles()
        tell_maps()
        tell_port()
        put("E\t" count)
        flush_rows()
    }
}
