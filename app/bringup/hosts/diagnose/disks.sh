# Room on the disks that a start fills. Arguments: SECONDS that df may take.
PATH=$PATH:/usr/bin:/bin
export PATH

section 'disk space'
within df -h / /tmp /dev/shm
