"""Process titles as setproctitle sets them: in the memory that /proc/PID/cmdline shows, and in /proc/PID/comm."""

from __future__ import annotations

import ctypes
from pathlib import Path

START, END = 48 - 3, 49 - 3
"""Fields arg_start and arg_end of /proc/PID/stat (proc(5) counts from 1) among those after the command's name."""


def set_title(title: str) -> None:
    """Show `title` as this process's command line, cut at the room its original one takes, and as its name."""
    raw = Path("/proc/self/stat").read_text()
    fields = raw[raw.rindex(")") + 2 :].split()
    start, end = int(fields[START]), int(fields[END])
    text = title.encode()[: max(0, end - start - 1)]
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))
    # The kernel cuts a name at 15 bytes by itself.
    Path("/proc/self/comm").write_text(title)
