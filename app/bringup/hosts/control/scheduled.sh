# scheduled PID [IO]: prints, a line each, the memory policy of a process (numa(7)), its scheduling class
# (proc_pid_stat(5)) and its I/O priority, as ionice(1) tells it or as IO; nothing of what cannot be told.
scheduled() {
    # Not more of it: for each mapping the kernel counts its pages, and a server has many.
    dd bs=64 count=1 <"/proc/$1/numa_maps" | { read -r _ policy _; [ -z "$policy" ] || echo "memory policy that was $policy"; }
    # Behind these two every field has its number.
    set -- "$1" "${2-$(ionice -p "$1")}" $(sed -n '$s/.*) //p' "/proc/$1/stat")
    case ${41} in 0) class=other ;; 1) class="fifo ${40}" ;; 2) class="rr ${40}" ;; 3) class=batch ;; 5) class=idle ;; *) class='' ;; esac
    [ -z "$class" ] || echo "scheduling class that was $class"
    [ -z "$2" ] || echo "I/O priority that was $2"
} 2>/dev/null
