"""The lines that the log pane holds: bounded, filtered, searched. Bytes all the way: only what is shown is decoded."""

from __future__ import annotations

import re
from bisect import bisect_left

from bringup.core.events import Labels
from bringup.core.sanitize import clean, clean_text

CAP = 100_000
_LOOKED_AT, _TELLING = 200, 30
"""Lines that are tried, and the length of one that is told from others."""
_SLACK = 5
"""Trimming costs one copy, so it happens once in CAP / 4 lines."""
ERROR = re.compile(
    rb"\b(?:ERROR|CRITICAL|FATAL|Traceback)\b|\b[A-Za-z]*(?:Error|Exception)\b|out of memory|Segmentation fault"
)
WARNING = re.compile(rb"\b(?:WARNING|WARN|Warning)\b|\b[A-Za-z]*Warning\b")
_HEADED = re.compile(rb"^(?:\[|\(|INFO|WARNING|ERROR|DEBUG|CRITICAL|\d{4}-\d\d-\d\d)")
"""How a line of its own begins; a traceback and other long messages go on without it."""


def pattern_for(words: str) -> re.Pattern[bytes]:
    """Return a pattern that finds the words as they are, in any case unless they hold a capital."""
    flags = 0 if any(letter.isupper() for letter in words) else re.IGNORECASE
    return re.compile(re.escape(words.encode("utf-8")), flags)


def pattern_of_rank(labels: Labels) -> re.Pattern[bytes] | None:
    """Return a pattern for the lines of a rank by the labels it prints; None where it prints none."""
    shown = [(name, number) for name, number in labels if name in ("dp", "pp", "tp")]
    if not shown:
        return None
    ahead = "".join(rf"(?=.{{0,80}}?(?<![A-Za-z0-9]){name.upper()}{number}(?!\d))" for name, number in shown)
    return re.compile(ahead.encode())


class LogLines:
    """A bounded ring of log lines with an optional filter; positions count the lines that pass it."""

    def __init__(self, cap: int = CAP) -> None:
        self._cap = cap
        self._lines: list[bytes] = []
        self._base = 0
        self._filter: re.Pattern[bytes] | None = None
        self._kept: list[int] = []
        self._inside = False

    def __len__(self) -> int:
        return len(self._lines) if self._filter is None else len(self._kept)

    @property
    def held(self) -> int:
        """How many lines are held, whether or not they pass the filter."""
        return len(self._lines)

    def all(self) -> list[bytes]:
        """Return all lines that are held, whether or not they pass the filter."""
        return self._lines.copy()

    def oldest(self) -> str:
        """Return the oldest line that can be looked for in the file: as written, and long enough; "" for none."""
        for line in self._lines[:_LOOKED_AT]:
            text = line.decode("utf-8", "replace")
            if len(text) >= _TELLING and text == clean(line) and not line.startswith(b"---"):
                return text
        return ""

    @property
    def dropped(self) -> int:
        """How many older lines were held once."""
        return self._base

    @property
    def filtered(self) -> bool:
        """Some lines may be hidden."""
        return self._filter is not None

    def clear(self) -> None:
        """Forget all lines; what is shown of the next ones stays as it is."""
        self._lines, self._kept, self._base, self._inside = [], [], 0, False

    def extend(self, lines: list[bytes]) -> int:
        """Add lines; return by how many positions everything moved up because old lines were dropped."""
        first = self._base + len(self._lines)
        self._lines.extend(lines)
        if self._filter is not None:
            self._pass(first, lines)
        excess = len(self._lines) - self._cap
        if excess * (_SLACK - 1) < self._cap:
            return 0
        return self._drop(excess)

    def line(self, position: int) -> bytes:
        """Return the line at a position."""
        return self._lines[self.number(position) - self._base]

    def number(self, position: int) -> int:
        """Return the number of the line at a position: it stays the same when old lines are dropped."""
        return self._kept[position] if self._filter is not None else self._base + position

    def position(self, number: int) -> int:
        """Return the position of a numbered line, or of the next one that passes the filter."""
        if self._filter is None:
            return max(0, min(len(self._lines) - 1, number - self._base))
        return min(bisect_left(self._kept, number), max(0, len(self._kept) - 1))

    def narrow(self, pattern: re.Pattern[bytes] | None) -> None:
        """Show only lines that match and what belongs to them (a traceback); None shows all."""
        self._filter, self._kept, self._inside = pattern, [], False
        if pattern is not None:
            self._pass(self._base, self._lines)

    def find(self, pattern: re.Pattern[bytes], start: int, step: int) -> int | None:
        """Return the position of the first match from `start` on, going by `step` (1 or -1)."""
        stop = len(self) if step > 0 else -1
        for position in range(max(-1, min(start, len(self))), stop, step):
            if 0 <= position < len(self) and pattern.search(self.line(position)):
                return position
        return None

    def count(self, pattern: re.Pattern[bytes], first: int = 0) -> int:
        """Return how many shown lines match, from a position on."""
        return sum(1 for position in range(first, len(self)) if pattern.search(self.line(position)))

    def find_text(self, text: str, near: int) -> int | None:
        """Return the position of the line that holds `text`, looking first where line `near` (from 1) should be."""
        wanted = clean_text(text).strip()
        guess = near - 1 - self._base
        order = [*range(max(0, guess), min(len(self), guess + 200)), *range(len(self))] if near else range(len(self))
        return next((place for place in order if wanted and wanted in clean(self.line(place))), None)

    def _pass(self, first: int, lines: list[bytes]) -> None:
        assert self._filter is not None
        for offset, line in enumerate(lines):
            if _HEADED.match(line):
                self._inside = self._filter.search(line) is not None
            if self._inside:
                self._kept.append(first + offset)

    def _drop(self, excess: int) -> int:
        del self._lines[:excess]
        self._base += excess
        if self._filter is None:
            return excess
        gone = bisect_left(self._kept, self._base)
        del self._kept[:gone]
        return gone
