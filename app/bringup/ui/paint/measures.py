"""Numbers as an operator reads them: sizes, durations, times of day."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from bringup.core.words import count as count
from bringup.core.words import duration

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(octets: int) -> str:
    """Return a size in bytes: "812 B", "1.4 MiB"."""
    value = float(octets)
    for unit in _UNITS[:-1]:
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} {_UNITS[-1]}"


def gib(mib: int) -> str:
    """Return MiB as a number of GiB with one decimal."""
    return f"{mib / 1024:.1f}"


def short_duration(seconds: float) -> str:
    """Return a duration for tight places: "9 s", "4:12", "2:05:00"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def age(seconds: float) -> str:
    """Return how long ago something was: by the second for a minute, then by the minute, for more is not read."""
    return duration(seconds if seconds < 60 else seconds // 60 * 60)


def clock(at: float, utc_offset: float) -> str:
    """Return the time of day on the host whose clock is `utc_offset` seconds east of UTC."""
    zone = timezone(timedelta(seconds=round(utc_offset)))
    return datetime.fromtimestamp(at, zone).strftime("%H:%M:%S")
