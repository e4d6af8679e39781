"""Beginnings of lines that were peeled before: one of the same shape is taken off without asking any pattern.

In a wrapped log millions of lines begin alike, apart from digits: `2026-03-02T09:14:29.1Z `, `engine-1  | `. What the
wrappers made of the first of them holds for all of the same length and shape, if they name a place known to be one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bringup.core.stamps import ALIKE

_MOST = 12
_MOST_PLACES = 4096
_TAIL_ENDS = (93, 41)
"""`]` and `)`: a transport may have put something at the end of the line, too."""
Span = tuple[int, int]


@dataclass(slots=True)
class Lead:
    """One shape, and where in it the place and the transport's time stand."""

    size: int
    shape: bytes
    places: tuple[Span, ...]
    stamp: Span
    process: bool
    origins: dict[bytes, str] = field(default_factory=dict)
    """What stands at `places` → the place in words, of those that were peeled."""


Led = tuple[bytes, bytes, str, bool]
"""Text, transport's time, place, and whether the place is one process."""


class Leads:
    """The shapes of one log, the newest first."""

    def __init__(self) -> None:
        self._leads: list[Lead] = []

    def __bool__(self) -> bool:
        return bool(self._leads)

    def find(self, record: bytes) -> Led | None:
        """Return what is under a beginning of a known shape, or None where the wrappers must be asked."""
        for index, lead in enumerate(self._leads):
            size = lead.size
            head = record[:size]
            if head.translate(ALIKE) != lead.shape:
                continue
            origin = lead.origins.get(_place(head, lead.places))
            if origin is None or record[-1] in _TAIL_ENDS or b"\x1b" in record or b"\r" in record:
                return None
            if index:
                self._leads.insert(0, self._leads.pop(index))
            begin, end = lead.stamp
            return record[size:], head[begin:end], origin, lead.process
        return None

    def learn(self, head: bytes, places: tuple[Span, ...], stamp: Span, origin: str, *, process: bool) -> None:
        """Remember a beginning that was peeled, with the spans of its place and its time."""
        shape = head.translate(ALIKE)
        lead = next((known for known in self._leads if known.shape == shape), None)
        if lead is None or (lead.places, lead.stamp, lead.process) != (places, stamp, process):
            lead = Lead(len(head), shape, places, stamp, process)
            self._leads = [lead, *(known for known in self._leads if known.shape != shape)][:_MOST]
        if len(lead.origins) < _MOST_PLACES:
            lead.origins[_place(head, places)] = origin


def _place(head: bytes, places: tuple[Span, ...]) -> bytes:
    return b"\x00".join([head[begin:end] for begin, end in places])
