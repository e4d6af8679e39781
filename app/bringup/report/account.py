"""A start as a report tells it: what is known at its end, how it went over time, and the lines that matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bringup.core.sanitize import clean, clean_text
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.report.excerpts import AFTER, BEFORE, Excerpts, Quoted, shown
from bringup.report.explanation import Explanation, Reading
from bringup.session.series import Point

_LONGEST = 64 << 10
"""Bytes kept of a line that has no end yet."""
TAIL = 30
"""Lines of the log's end that a report holds."""


@dataclass(frozen=True, slots=True)
class Account:
    """All that a report is made of."""

    name: str
    """What the operator called the host, or the file."""
    kind: Literal["log", "recording", "host"]
    verdict: Verdict
    state: State
    points: tuple[Point, ...] = ()
    """Samples in order of time; empty where nothing could be seen over time."""
    excerpt: tuple[Quoted, ...] = ()
    """The line of the cause and those around it; number 0 where it is not known."""
    tail: tuple[Quoted, ...] = ()
    """The last lines of the log."""
    reading: Reading | None = None
    """How the log was read, where the report is about one."""
    zone: float | None = None
    """Seconds east of UTC of the times; None where they are a log's own."""
    trouble: str = ""
    """Why not all of it was read, as a sentence."""
    maker: str = "bringup"
    """The program with its version."""
    nodes: tuple[Account, ...] = ()
    """The hosts of one start that has several, each with its own verdict; `state` is then of the one that decides."""
    part: int = 0
    """The number of the host among those of one start, from 1; 0 where it is the only one, or all of them."""

    @property
    def title(self) -> str:
        """The name as it is read first: of a file without its folder."""
        return self.name if self.kind == "host" else self.name.rpartition("/")[2] or self.name

    @property
    def each(self) -> tuple[Account, ...]:
        """The hosts, one by one; itself where there is only one."""
        return self.nodes or (self,)

    @property
    def of(self) -> str:
        """What a heading says beyond what it is about: " of gpu-a" where there are several hosts."""
        return f" of {self.name}" if self.part else ""

    @property
    def mark(self) -> str:
        """What makes a name unlike that of the same thing of another host."""
        return f"-{self.part}" if self.part else ""

    @property
    def explanation(self) -> Explanation:
        """The same as the parts of an explained log."""
        log = self.state.log
        reading = self.reading or Reading(log.path, log.size, log.lines, log.unknown, None, None)
        return Explanation(self.verdict, self.state, reading, 0.0, (), self.excerpt)


def around(chunks: Iterable[bytes], wanted: int | None) -> tuple[tuple[Quoted, ...], tuple[Quoted, ...]]:
    """Return line `wanted` of a log with those around it, and the log's last lines."""
    excerpts, tail = Excerpts(), Tail()
    numbers = () if wanted is None else (wanted,)
    for chunk in chunks:
        excerpts.feed(chunk, numbers)
        tail.feed(chunk)
    excerpts.close(numbers)
    return excerpts.around(wanted) if wanted is not None else (), tail.lines()


def among(lines: Sequence[bytes], text: str, number: int | None) -> tuple[Quoted, ...]:
    """Return the newest of some log lines that holds a text, with those around it; nothing where none does."""
    wanted = clean_text(text).strip()
    if not wanted:
        return ()
    found = next((i for i in range(len(lines) - 1, -1, -1) if wanted in clean(lines[i])), None)
    if found is None:
        return ()
    near = range(max(0, found - BEFORE), min(len(lines), found + AFTER + 1))
    return tuple(Quoted(max(0, number + i - found) if number else 0, shown(lines[i])) for i in near)


def last_of(lines: Sequence[bytes]) -> tuple[Quoted, ...]:
    """Return the last of some log lines; which numbers they have is not known."""
    return tuple(Quoted(0, shown(line)) for line in lines[-TAIL:])


class Tail:
    """The last lines of a log that streams by."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._open = b""
        self._complete = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        lines = (self._open + chunk).split(b"\n")
        self._open = lines.pop()[:_LONGEST]
        self._complete += len(lines)
        self._lines = [*self._lines, *lines[-TAIL:]][-TAIL:]

    def lines(self) -> tuple[Quoted, ...]:
        """Return them with their numbers, one that has no end yet too."""
        kept = [*self._lines, self._open] if self._open else self._lines
        last = self._complete + bool(self._open)
        return tuple(Quoted(last - len(kept) + i + 1, shown(line)) for i, line in enumerate(kept))[-TAIL:]
