"""What the files are called that a report or a diagnosis is kept in."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime
from pathlib import Path

from bringup.recordings.private import write_private

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def stem(kind: str, name: str, now: float) -> str:
    """Return the beginning of a file's name: its kind, the host as far as a name can hold it, and the time in UTC."""
    host = _UNSAFE.sub("-", name)[:60].strip("-") or "host"
    return f"{kind}-{host}-{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}"


def write_new(text: str, folder: Path, called: str, ending: str) -> Path:
    """Write a file into a folder, readable by its owner only, under a name that nobody has taken; returns it.

    Nothing is left of what could not be written to its end. Raises OSError.
    """
    number = 1
    while True:
        path = folder / f"{called}{'' if number == 1 else f'-{number}'}{ending}"
        try:
            write_private(path, text, new=True)
        except FileExistsError:
            number += 1
        except OSError:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise
        else:
            return path
