"""The lines around an error, kept while a log streams by: which error is the cause is known only at its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from bringup.core.sanitize import clean
from bringup.report.harmless import harmless

BEFORE, AFTER = 3, 2
_LONGEST = 64 * 1024
"""Bytes kept of one line: those of the last bar that was drawn in it are among them."""
_MASKED, _SHOWN = 4000, 1000
"""Bytes of a line that are searched for secrets, and letters of it that are shown: no secret is cut by the end."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A line of the log, harmless and without secrets."""

    number: int
    text: str


class Excerpts:
    """Keeps a few lines before and after each line that it is told of; memory is bounded by how many those are."""

    def __init__(self) -> None:
        self._next = 1
        """Number of the first line that is not complete yet."""
        self._open = b""
        self._recent: deque[bytes] = deque(maxlen=BEFORE)
        self._kept: dict[int, dict[int, bytes]] = {}

    def feed(self, chunk: bytes, wanted: Collection[int]) -> None:
        """Take the next bytes; `wanted` are the numbers of all lines that matter now, those of earlier chunks too."""
        lines = chunk.split(b"\n")
        lines[0] = self._open + lines[0]
        self._open = lines.pop()[:_LONGEST]
        self._keep(lines, wanted)

    def close(self, wanted: Collection[int]) -> None:
        """End the log: what stands there without a line end is its last line."""
        if self._open:
            self._keep([self._open], wanted)
            self._open = b""

    def around(self, number: int) -> tuple[Quoted, ...]:
        """Return a line with those around it in order; nothing where the line was not kept."""
        return tuple(Quoted(at, shown(line)) for at, line in sorted(self._kept.get(number, {}).items()))

    def _keep(self, lines: list[bytes], wanted: Collection[int]) -> None:
        first, after = self._next, self._next + len(lines)
        earlier = list(self._recent)
        self._kept = {number: kept for number, kept in self._kept.items() if number in wanted}
        for number in wanted:
            if number >= after + BEFORE or number + AFTER < first:
                continue
            kept = self._kept.setdefault(number, {})
            for at in range(max(first - len(earlier), number - BEFORE), min(after, number + AFTER + 1)):
                kept.setdefault(at, (lines[at - first] if at >= first else earlier[at - first])[:_LONGEST])
        self._recent.extend(line[:_LONGEST] for line in lines[-BEFORE:])
        self._next = after


def shown(line: bytes) -> str:
    """Return what a terminal would show of a line in the end: a bar is drawn over and over in the same one."""
    drawn = [part for part in line.split(b"\r") if part.strip()]
    return harmless(clean(drawn[-1][:_MASKED]))[:_SHOWN].rstrip() if drawn else ""
