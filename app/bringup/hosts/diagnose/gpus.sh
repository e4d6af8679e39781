# What the GPUs' driver says. Arguments: SECONDS that nvidia-smi may take.
PATH=$PATH:/usr/bin:/bin:/usr/local/nvidia/bin:/usr/lib/wsl/lib
export PATH

section nvidia-smi
if command -v nvidia-smi >/dev/null; then
    answer=$(within nvidia-smi)
    printf '%s\n' "$answer"
    # One that hangs in the driver would only hang again.
    case $answer in *"did not answer within"*) exit ;; esac
    within nvidia-smi --format=csv --query-compute-apps=pid,gpu_uuid,used_memory,process_name
elif [ -e /proc/driver/nvidia/version ]; then
    echo 'There is a driver, and no nvidia-smi is installed:'
    cat /proc/driver/nvidia/version 2>&1 | plain
else
    echo 'There is no nvidia-smi on this machine.'
fi
