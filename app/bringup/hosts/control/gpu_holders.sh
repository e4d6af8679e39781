# The PIDs of the processes that hold memory of a GPU and how much of it, as the driver knows them; status 127 where
# there is neither nvidia-smi nor its driver. A process is listed once for each GPU.
PATH=$PATH:/usr/bin:/usr/local/nvidia/bin:/usr/lib/wsl/lib
if ! command -v nvidia-smi >/dev/null 2>&1; then
    [ -e /proc/driver/nvidia/version ] || exit 127
    echo "there is a driver, and no nvidia-smi is installed" >&2
    exit 1
fi
exec nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits
