"""The hosts to watch: the only place of the client that knows SSH, subprocesses, /proc and nvidia-smi."""
