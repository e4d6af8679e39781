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

# The fields of a line of /proc/PID/stat after the name, which may hold anything; sets `name_end`.
function after_name(text,   n) {
    for (name_end = 0; (n = index(substr(text, name_end + 1), ")")) > 0; ) name_end += n
    return substr(text, name_end + 2)
}

# The parents of all processes: at first, and once a minute so that a number used again is noticed.
function scan(   cmd, line, id, f, p) {
    cmd = "cd /proc; read -r up _ <uptime; echo K $(date +%s.%N) $up; exec grep -H ')' [0-9]*/stat 2>/dev/null"
    split("", parent); split("", other)
    while ((cmd | getline line) > 0) {
        split(line, id, /[ \/]/)
        if (id[1] == "K") { put("K\t" id[2] "\t" id[3]); continue }
        split(after_name(line), f, " ")
        parent[id[1]] = f[2]
    }
    close(cmd)
    adopt()
}

# Those whose parent belongs to the tree belong to it; the others are remembered as strangers.
function adopt(   p, more) {
    for (more = 1; more; ) {
        more = 0
        for (p in parent) if (!(p in member) && parent[p] in member) { member[p]; born[p] = tick; more = 1 }
    }
    for (p in parent) if (parent[p] != "") { if (!(p in member)) other[p]; delete parent[p] }
}

function learn_parents(   p, f) {
    for (p in parent) if (p in text) { split(after_name(text[p]), f, " "); parent[p] = f[2] }
    adopt()
}

# The list of all processes: those not seen before are asked for their parent with the next sample.
function take_list(line,   pids, n, i, now) {
    n = split(line, pids, " ")
    for (i = 2; i <= n; i++) { now[pids[i]]; if (!(pids[i] in member || pids[i] in other)) parent[pids[i]] = "" }
    for (i in other) if (!(i in now)) delete other[i]
    for (i in parent) if (!(i in now)) delete parent[i]
    list_every = 1 + int(n / 1000)
}

function forget(p) {
    delete words[p]; delete member[p]; delete born[p]; delete start[p]; delete last[p]; delete name[p]; delete title[p]
    delete uid[p]; delete chars[p]; delete bytes[p]; delete wait[p]; delete size[p]; delete sized[p]; delete shown[p]
    delete idle[p]; delete moved[p]; delete raw[p]
}

# Waits, then reads all files of the tree with one grep. Idle processes are looked at less closely. Two kinds of file cost
# the kernel much: maps, which are read where memory changed, and net/tcp, whose table grows with the machine's memory. Both
# are weighed by the CPU that grep uses for them (and this awk, for its lines), and read so rarely that they stay below a
# hundredth of a core.
function sample(   cmd, p, at, file, lists, maps) {
    lists = tick % list_every == 0
    asks_port = port != "" && is_due(port_at)
    cmd = "cd /proc; " (tick > 1 ? "sleep " every " || exit; " : "") (lists ? "echo L [0-9]*; " : "") "exec grep -H -E"
    cmd = cmd " -e '\\) [A-Za-z] [0-9]+ [0-9-]+ |^rchar|^read_bytes|^Uid|^[^: ]*$|^[0-9.]+ [0-9.]+( [0-9]+)?$|\\[(stack|heap|vdso)'"
    cmd = cmd " -e '/.*\\.(safetensors|bin|pt|pth|gguf)( \\(deleted\\))?$|/blobs/[0-9a-f]{40,}$'"
    if (asks_port) cmd = cmd " -e ':" port " 0*:0000 0A '"
    cmd = cmd " uptime"
    split("", text); split("", asked); split("", seen)
    for (p in member) {
        cmd = cmd " " p "/stat"
        if (!(p in idle) || (tick + p) % 8 == 0) { cmd = cmd " " p "/io " p "/wchan"; asked[p] }
        if (!(p in uid)) cmd = cmd " " p "/status"
    }
    for (p in parent) cmd = cmd " " p "/stat " p "/io " p "/wchan " p "/status"
    cmd = cmd " self/schedstat"
    if (asks_port) cmd = cmd (root in member ? " " root "/net/tcp " root "/net/tcp6" : " net/tcp net/tcp6")
    if (is_due(maps_at)) for (p in member) if (wants_maps(p)) maps = maps " " p "/maps"
    cmd = cmd " self/schedstat" maps " self/schedstat 2>/dev/null"
    listening = ""; clocks = 0; map_lines = 0; up = ""
    while ((cmd | getline line) > 0) {
        at = index(line, ":")
        if (!at) { take_list(line); continue }
        split(substr(line, 1, at - 1), file, "/")
        take_line(file[1], file[2], substr(line, at + 1))
    }
    close(cmd)
    end_piece()
    if (up == "") exit
    if (asks_port) port_at = up + 3 + 300 * (port_cost = 0.7 * port_cost + 0.3 * used(1))
    if (maps != "") maps_at = up + 150 * (maps_cost = 0.7 * maps_cost + 0.3 * (used(2) + map_lines * 3e-6))
}

# The sample that is being prepared is taken one interval after the last one.
function is_due(at) { return up + every >= at }

# Seconds of CPU between two readings of schedstat; a guess where the kernel does not count them.
function used(n) {
    return clocks < 3 ? 0.02 : clock[n + 1] - clock[n] < 0.1 ? clock[n + 1] - clock[n] : 0.1
}

function wants_maps(p) {
    if ((p in shown && size[p] == sized[p]) || (tick > 1 && born[p] >= tick - 1)) return 0
    seen[p] = "!"; sized[p] = size[p]
    return 1
}

# Lines of one process come one after another. They are collected in pieces: a long text that grows by lines costs much.
function take_map(p, line, at) {
    map_lines++
    if (p != map_of || length(piece) > 4000) end_piece()
    map_of = p
    if (seen[p] == "!") seen[p] = ""
    if (!at || (line = substr(line, at)) == last_file) return
    last_file = line
    piece = piece "\n" line
}

function end_piece() {
    if (piece != "") seen[map_of] = seen[map_of] piece
    piece = ""; last_file = ""
}

function take_line(p, file, rest,   f) {
    if (file == "stat") { text[p] = text[p] rest; return }
    if (file == "wchan") { wait[p] = rest; return }
    if (file == "maps") { take_map(p, rest, index(rest, "/")); return }
    split(rest, f, " ")
    if (p == "uptime") up = f[1]
    else if (p == "self") clock[++clocks] = f[1] / 1e9
    else if (f[1] == "rchar:") chars[p] = f[2]
    else if (f[1] == "read_bytes:") bytes[p] = f[2]
    else if (f[1] == "Uid:") uid[p] = f[2]
    else if (file == "net" || p == "net") listening = listening " " f[10]
}

# One row for each process that changed, and one for those that did not.
function tell_processes(   p, f, tail, comm, now_is, same, count) {
    put("B\t" up)
    for (p in member) {
        if (!(p in text)) { forget(p); continue }
        count++
        if (text[p] == raw[p] && !(p in asked)) { same = say_same(same " " p, 2000); continue }
        raw[p] = text[p]
        tail = after_name(text[p])
        split(tail, f, " ")
        if (p in start && start[p] != f[20]) { forget(p); count--; continue }
        start[p] = f[20]
        comm = clean(substr(text[p], index(text[p], "(") + 1, name_end - 1 - index(text[p], "(")))
        tell_user(p)
        now_is = f[1] " " f[2] " " f[3] " " f[4] " " f[8] " " f[10] " " f[12] " " f[13] " " f[18] " " f[20] " " f[22]
        now_is = now_is "\t" chars[p] "\t" bytes[p] "\t" uid[p] "\t" clean(wait[p]) "\t" comm
        # The name and the place of the arguments change with what exec and setproctitle do to the command line.
        name[p] = comm " " f[46]
        size[p] = f[1] " " f[8] " " f[10] " " f[21]
        if (last[p] == now_is) { idle[p]; same = say_same(same " " p, 2000); continue }
        delete idle[p]; moved[p]; last[p] = now_is
        put("P\t" p " " now_is)
    }
    say_same(same, 0)
    return count + 0
}

function say_same(pids, room) {
    if (length(pids) <= room) return pids
    put("S\t" pids)
    return ""
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
        if ((tick > 1 && born[p] == tick) || (name[p] == title[p] && (!(p in moved) || (tick + p) % 30))) continue
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

# Checkpoint files that came into the maps or left them.
function tell_maps(   p) {
    for (p in seen) if (p in member && (!(p in shown) || shown[p] != seen[p])) tell_changes(p, seen[p])
}

function tell_changes(p, files,   before, after, old, new, n, i) {
    if (files == "!") put("M\t" p "\t!")
    else if (!(p in shown) || shown[p] == "!") put("M\t" p "\t=")
    n = split(p in shown ? shown[p] : "", before, "\n")
    for (i = 1; i <= n; i++) if (before[i] ~ /^\//) old[before[i]]
    n = split(files, after, "\n")
    for (i = 1; i <= n; i++) if (after[i] ~ /^\//) new[after[i]]
    for (i in old) if (!(i in new)) put("M\t" p "\t-\t" file_name(p, i))
    for (i in new) if (!(i in old)) put("M\t" p "\t+\t" file_name(p, i))
    shown[p] = files
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
    member[root]; born[root] = 0; list_every = 1
    for (tick = 1; ; tick++) {
        if (tick % 60 == 1) scan()
        sample()
        learn_parents()
        count = tell_processes()
        tell_titles()
        tell_maps()
        tell_port()
        put("E\t" count)
        flush_rows()
    }
}
