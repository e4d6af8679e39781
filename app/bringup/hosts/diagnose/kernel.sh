# What the kernel said: first all that is about GPUs, memory and tasks that hang, however old, then the newest lines.
# Arguments: SECONDS that a program may take.
PATH=$PATH:/usr/bin:/bin:/usr/sbin:/sbin
export PATH

if command -v dmesg >/dev/null && dmesg >/dev/null 2>&1; then
    kernel() { dmesg -T 2>/dev/null || dmesg; }
elif command -v journalctl >/dev/null && within journalctl -k -n 1 --no-pager -q 2>/dev/null | grep -q 'kernel:'; then
    kernel() { within journalctl -k -n 5000 --no-pager -q; }
else
    section 'kernel log'
    echo 'The kernel log may not be read by this user.'
    exit
fi
section 'kernel log: GPUs, memory, hung tasks'
kernel | grep -iE 'NVRM|Xid|nvlink|nvidia|out of memory|oom[-_ ]|killed process|hung task|blocked for more than|MCE|hardware error' |
    tail -n 80 | plain
section 'kernel log: its end'
kernel | tail -n 60 | plain
