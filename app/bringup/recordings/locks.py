"""Who writes a recording now: a lock on its file, which the system takes away from whoever ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


def hold(descriptor: int) -> None:
    """Lock an open file for as long as it is open; a file system without locks is no reason not to write."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(path: Path) -> bool:
    """Say whether somebody may be writing the file: where it cannot be found out, somebody is."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
