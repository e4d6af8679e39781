"""A finished log explained: it goes through the same decoder, reduction and judgement as a live one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from bringup.core.assess import assess
from bringup.core.decode import Decoder
from bringup.core.events import Event
from bringup.core.fold import thin
from bringup.core.reduce import reduce
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.hosts.logfile import LogFile
from bringup.report.excerpts import Excerpts, Quoted
from bringup.session.knowledge import Knowledge


@dataclass(frozen=True, slots=True)
class Reading:
    """How the log was read."""

    name: str
    size: int
    """Bytes, unpacked."""
    lines: int
    """Lines, counting one that has no end yet."""
    unknown: int
    """Lines that no rule knew."""
    began: float | None
    """First and last time printed, in seconds as if the log's clock were UTC; None where it prints none."""
    ended: float | None
    trouble: str = ""
    """Why not all of it was read."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict about a log, and what a page needs beside it."""

    verdict: Verdict
    state: State
    reading: Reading
    silent: float
    """Seconds of silence that were assumed after the last byte."""
    about: tuple[str, ...] = ()
    """Evidence about the log itself: how much of it was understood, and the launches before the last one."""
    excerpt: tuple[Quoted, ...] = ()
    """The line of the cause and those around it."""


Watch = Callable[[State, float], None]
"""Is told the state after each event of a log that has a time (seconds, as the log's clock has it)."""


def explain(log: LogFile, knowledge: Knowledge, silent: float = 0.0, watch: Watch | None = None) -> Explanation:
    """Read a log to its end and judge it `silent` seconds after its last time; `watch` sees it on the way."""
    reader = _Reader(knowledge, watch)
    for chunk in log.chunks():
        reader.take(chunk)
    reader.close()
    reading = reader.reading(log)
    state = reader.state
    verdict = assess(state, reader.last + silent, knowledge.policy)
    about = tuple(_about(state, reading))
    verdict = replace(_said(verdict, state, reading), evidence=(*verdict.evidence, *about))
    number = verdict.cause.line_number if verdict.cause is not None else None
    excerpt = reader.excerpts.around(number) if number is not None else ()
    return Explanation(verdict, state, reading, silent, about, excerpt)


class _Reader:
    """Bytes in, state and excerpts out."""

    def __init__(self, knowledge: Knowledge, watch: Watch | None) -> None:
        self._watch = watch
        self.state = State()
        self.excerpts = Excerpts()
        self.first = self.last = 0.0
        self._decoder = Decoder(knowledge.engines, knowledge.wrappers)
        self._size = 0
        self._is_open = False

    def take(self, chunk: bytes) -> None:
        self._size += len(chunk)
        self._is_open = not chunk.endswith(b"\n")
        self._apply(self._decoder.feed(chunk, None))
        self.excerpts.feed(chunk, _telling(self.state))

    def close(self) -> None:
        self._apply(self._decoder.close(None))
        self.excerpts.close(_telling(self.state))
        self.last = max(self.last, self.state.attempt.last_line_at or 0.0)

    def reading(self, log: LogFile) -> Reading:
        seen = self.state.log
        return Reading(
            name=log.name,
            size=self._size,
            lines=seen.lines + self._is_open,
            unknown=seen.unknown,
            began=self.first or None,
            ended=self.last or None,
            trouble=f"{log.trouble} What came before was read." if log.trouble else "",
        )

    def _apply(self, events: list[Event]) -> None:
        state = self.state
        for event in thin(events):
            state = reduce(state, event)
            if event.at > 0:
                self.last = event.at
                self.first = self.first or event.at
                if self._watch is not None:
                    self._watch(state, event.at)
        self.state = state


def _telling(state: State) -> Collection[int]:
    """Lines that may turn out to be worth showing."""
    attempt = state.attempt
    ends = {line.line for line in attempt.faults} | {line.line for line in attempt.endings}
    return (ends | {past.line for past in state.earlier}) - {0}


def _said(verdict: Verdict, state: State, reading: Reading) -> Verdict:
    """A log in which nothing was recognised is not one of a server that has yet to start: say which of the two."""
    if verdict.state != "waiting":
        return verdict
    if reading.size == 0:
        return replace(verdict, summary="The log is empty: nothing was started, or nothing was written to it.")
    if state.attempt.faults or state.log.unknown == 0:
        return verdict
    summary = f"This log is in no format that bringup knows, or no server was started in it: {understood(reading)}."
    return replace(verdict, state="unknown", summary=summary)


def _about(state: State, reading: Reading) -> Iterable[str]:
    """Evidence about the log itself and about the launches before the last one."""
    for past in state.earlier:
        if past.kind is not None:
            yield f"launch {past.number} failed ({past.kind}), log line {past.line}: {past.text[:200]}"
    if reading.unknown:
        yield f"log: {understood(reading)}"
    if reading.trouble:
        yield f"log: {reading.trouble}"


def understood(reading: Reading) -> str:
    """Return how much of a log was understood, in words."""
    lines = f"{reading.lines:,} line{'' if reading.lines == 1 else 's'}"
    if reading.unknown >= reading.lines == 1:
        return "its one line was not understood"
    if reading.unknown >= reading.lines:
        return f"none of its {lines} was understood"
    return f"{reading.unknown:,} of {lines} {'was' if reading.unknown == 1 else 'were'} not understood"
