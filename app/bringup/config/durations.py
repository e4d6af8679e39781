"""How long something takes, as people write it: 90, 90s, 10m, 1h30m, 2d."""

from __future__ import annotations

import re

FORM = "a duration such as 90, 90s, 10m, 1h30m or 2d"
"""What is expected, in words."""
LONGEST = 10 * 365 * 86400.0
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = r"(\d+(?:\.\d+)?)"
_PLAIN = re.compile(_NUMBER, re.ASCII)
_PARTS = re.compile(rf"{_NUMBER}([smhd])", re.ASCII)
_WHOLE = re.compile(rf"(?:{_NUMBER}[smhd])+", re.ASCII)


def read_duration(text: str) -> float:
    """Return the seconds of a duration; a number without a unit is of seconds. Raises ValueError for anything else."""
    words = text.strip().lower()
    if _PLAIN.fullmatch(words):
        seconds = float(words)
    elif _WHOLE.fullmatch(words):
        parts = [(float(number), unit) for number, unit in _PARTS.findall(words)]
        units = [unit for _, unit in parts]
        if units != sorted(set(units), key="dhms".index):
            raise ValueError(f"{text!r} is not {FORM}")
        seconds = sum(number * _UNITS[unit] for number, unit in parts)
    else:
        raise ValueError(f"{text!r} is not {FORM}")
    if seconds > LONGEST:
        raise ValueError(f"{text!r} is more than ten years")
    return seconds
