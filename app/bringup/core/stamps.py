"""Times as logs write them, read into seconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime

ALIKE = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else byte for byte in range(256))
"""Table for `bytes.translate`: makes texts alike that differ only in their digits, as two stamps do."""
_SHAPE = re.compile(
    rb"(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[ T]"
    rb"|(?P<month2>\d\d)-(?P<day2>\d\d) "
    rb"|(?P<name>[A-Z][a-z]{2}) {1,2}(?P<day3>\d{1,2}) )?"
    rb"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?P<fraction>[.,]\d{1,9})?"
    rb"(?P<zone>Z|[+-]\d\d:?\d\d)?$"
)
_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
_NO_YEAR = 2000
"""Stands in for a year that nothing tells: a leap year, so that 29 February can be read."""
_LEAP = 8
"""Years in which there is a 29 February for certain."""
_DAY = 86400.0
_ZONES = 26 * 3600.0
"""Seconds by which the clocks of two places differ at most: a stamp without a zone may be so far ahead."""


def read_stamp(text: bytes, utc_offset: float, near: float | None = None, by: float | None = None) -> float | None:
    """Return seconds since the epoch for a printed time, or None where it is no time.

    Without a zone it is `utc_offset` seconds east of UTC. Without a date (SGLang before 0.4) the moment closest to
    `near` is meant, and so without a year (vLLM, syslog), unless it is known `by` when it was printed: then the last.
    """
    found = _SHAPE.match(text.strip())
    if found is None:
        return None
    offset = _zone(found["zone"], utc_offset)
    near = by if near is None else near
    try:
        if found["year"]:
            return _moment(found, int(found["year"]), int(found["month"]), int(found["day"])) - offset
        if found["month2"] or found["name"]:
            return _moment_of_year(found, near, by, offset)
        around = datetime.fromtimestamp((near or 0.0) + offset, UTC)
        seconds = _moment(found, around.year, around.month, around.day) - offset
    except ValueError:
        return None
    return seconds if near is None else seconds + round((near - seconds) / _DAY) * _DAY


def tells_year(text: bytes) -> bool:
    """Tell whether a printed time names its year."""
    found = _SHAPE.match(text.strip())
    return found is not None and found["year"] is not None


def _zone(text: bytes | None, default: float) -> float:
    """Return the offset of a printed zone in seconds east of UTC."""
    if text is None:
        return default
    if text == b"Z":
        return 0.0
    digits = text[1:].replace(b":", b"")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return float(-seconds if text[:1] == b"-" else seconds)


def _moment(found: re.Match[bytes], year: int, month: int, day: int) -> float:
    """Return the time of day of `found` on a date, as if it were UTC; raises ValueError for impossible dates."""
    whole = datetime(year, month, day, int(found["hour"]), int(found["minute"]), int(found["second"]), tzinfo=UTC)
    fraction = found["fraction"]
    return whole.timestamp() + (float(b"0." + fraction[1:]) if fraction else 0.0)


def _moment_of_year(found: re.Match[bytes], near: float | None, by: float | None, offset: float) -> float:
    """Return the moment of a date without a year: the last one by a time, else the one closest to `near`."""
    month = int(found["month2"]) if found["month2"] else _MONTHS.index(found["name"]) + 1
    day = int(found["day2"] or found["day3"])
    middle = by if by is not None else near
    if middle is None:
        return _moment(found, _NO_YEAR, month, day) - offset
    year = datetime.fromtimestamp(middle + offset, UTC).year
    choices: list[float] = []
    for each in range(year + 1, year - (2 if by is None else _LEAP), -1):
        try:
            choices.append(_moment(found, each, month, day) - offset)
        except ValueError:
            continue
        if by is not None and choices[-1] <= by + _ZONES:
            return choices[-1]
    return min(choices, key=lambda moment: abs(moment - middle))
