"""Places in a log as an operator names them: 42%, 4.1 GB, byte 4123456789, 14:03, 2026-03-02 14:03:10."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bringup.core.stamps import read_stamp

_DAY = 86400.0
_SHARE = re.compile(r"(\d{1,3}(?:[.,]\d+)?) ?%$")
_AMOUNT = re.compile(r"(?:byte )?(\d[\d,_]*(?:\.\d+)?) ?([kmgt]?)(i?)b?$", re.IGNORECASE)
_CLOCK = re.compile(r"((?:(?:\d{4}-)?\d\d-\d\d[ T])?)(\d{1,2}):(\d\d)(?::(\d\d))?$")
_POWERS = "kmgt"
_STAMP = re.compile(
    rb"(?<![\d:.<])(?:\d{4}-\d\d-\d\d[ T]|\d\d-\d\d |[A-Z][a-z]{2} [ \d]\d )?"
    rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?![\d:<])"
)
_BEGINNING = 120
"""Bytes of a line in which its time stands."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go: to a byte, or to a time (epoch seconds)."""

    offset: int | None = None
    when: float | None = None


def read_place(text: str, size: int, now: float, utc_offset: float) -> Place | None:
    """Return the place that a text names in a log of `size` bytes; None where it names none.

    A time of day is the last one that has been by the host's clock, which is `utc_offset` seconds east of UTC.
    """
    text = text.strip()
    if (share := _SHARE.match(text)) is not None:
        part = float(share[1].replace(",", "."))
        return Place(offset=int(size * part / 100)) if part <= 100 else None
    if (clock := _CLOCK.match(text)) is not None:
        stamp = f"{clock[1]}{int(clock[2]):02}:{clock[3]}:{clock[4] or '00'}"
        when = read_stamp(stamp.encode(), utc_offset, now, by=now)
        if when is not None and not clock[1] and when > now:
            when -= _DAY
        return None if when is None else Place(when=when)
    if (amount := _AMOUNT.match(text)) is not None:
        power = _POWERS.find(amount[2].lower()) + 1 if amount[2] else 0
        factor = 1024 if amount[3] else 1000
        return Place(offset=round(float(re.sub("[,_]", "", amount[1])) * factor**power))
    return None


def time_of(line: bytes, near: float, utc_offset: float) -> float | None:
    """Return the time that a line carries at its beginning, in epoch seconds.

    Without a date it is the moment next to `near`, which is now; without a year the last one that has been.
    """
    found = _STAMP.search(line, 0, _BEGINNING)
    return None if found is None else read_stamp(found[0], utc_offset, near, by=near)
