"""What the files are called that a report or a diagnosis is kept in."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def stem(kind: str, name: str, now: float) -> str:
    """Return the beginning of a file's name: its kind, the host as far as a name can hold it, and the time in UTC."""
    host = _UNSAFE.sub("-", name)[:60].strip("-") or "host"
    return f"{kind}-{host}-{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}"
