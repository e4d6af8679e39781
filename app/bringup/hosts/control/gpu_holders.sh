# The PIDs of the processes that hold memory of a GPU and how much of it, as the driver knows them; status 127 without
# nvidia-smi. A process is listed once for each GPU.
PATH=$PATH:/usr/bin:/usr/local/nvidia/bin:/usr/lib/wsl/lib
command -v nvidia-smi >/dev/null 2>&1 || exit 127
exec nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits
