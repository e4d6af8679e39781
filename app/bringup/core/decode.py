"""From the bytes of a log to events: framing, wrappers, headers, tracebacks and rules, in this order.

Any way to cut the same bytes into chunks gives the same events, apart from their time of arrival.
"""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.dialect import Dialect
from bringup.core.events import Bar, Event, LinesRead
from bringup.core.framing import Framer
from bringup.core.quick import QuickReader
from bringup.core.rules import Engine
from bringup.core.timekeeper import Timekeeper
from bringup.core.wrappers import Wrappers

_NEWLINE = 10


class Decoder:
    """Reads one log. `utc_offset` (seconds east of UTC) is the zone of stamps that name none."""

    def __init__(
        self, engines: Sequence[Engine], wrappers: Wrappers, *, utc_offset: float = 0.0, engine: str | None = None
    ) -> None:
        chosen = [Dialect(known) for known in engines if engine in (None, known.name)]
        self._framer = Framer()
        self._time = Timekeeper(utc_offset)
        self._reader = QuickReader(chosen, wrappers, self._time, decided=engine is not None and bool(chosen))
        self._peeked = b""

    @property
    def engine(self) -> str | None:
        """Name of the engine that the log was found to be of, None until that is known."""
        return self._reader.engine

    def feed(self, data: bytes, at: float | None, by: float | None = None) -> list[Event]:
        """Return the events of the next bytes, closed by one LinesRead; `at` is when live bytes arrived.

        None is for bytes that were in the file already: the events then carry the times of their own lines. That these
        had been written `by` a time tells the year of stamps without one.
        """
        return self._read(self._framer.split(data), len(data), at, by) if data else []

    def peek(self, at: float | None, by: float | None = None) -> list[Event]:
        """Return the bar that is being drawn in the unterminated tail, if it is one and has changed."""
        tail = self._framer.tail
        if tail == self._peeked:
            return []
        self._peeked = tail
        values = self._reader.bar(tail)
        if values is None:
            return []
        self._time.arrive(at, by)
        line, origin = self._reader.line, self._reader.origin
        values |= {"at": self._time.now(), "stamp": self._time.moment(), "line": line, "origin": origin}
        return [Bar(provisional=True, **values)]

    def forget(self) -> None:
        """Leave open what was being told: what comes next in the same file is of another process."""
        self._reader.forget()

    def close(self, at: float | None) -> list[Event]:
        """End the log: read what is left of it without a line end. What is fed later is a new file's first line."""
        rest = self._framer.close()
        events = self._read(rest, 0, at) if rest else []
        self._reader.end_file()
        return events

    def _read(self, pieces: list[bytes], size: int, at: float | None, by: float | None = None) -> list[Event]:
        """Read records with their terminators and close their events."""
        reader = self._reader
        first = reader.line
        self._time.arrive(at, by)
        begun = 0
        while begun < len(pieces):
            begun = reader.run(pieces, begun) if reader.decided else self._step(pieces, begun)
        events = reader.events
        stamp = self._time.printed()
        events.append(
            LinesRead(
                at=self._time.now(),
                size=size,
                lines=reader.line - first,
                unknown=reader.unknown,
                stamp=stamp,
                heard=tuple(sorted(reader.heard)),
                ends_in_bar=at is None and self._ends_in_bar(pieces),
            )
        )
        reader.events, reader.heard, reader.unknown = [], set(), 0
        return events

    def _ends_in_bar(self, pieces: list[bytes]) -> bool:
        """Tell whether the last that was written is a bar, with no other rank's line glued to its end."""
        reader, tail = self._reader, self._framer.tail
        if tail.strip():
            return reader.bar(tail) is not None
        last = reader.events[-1] if reader.events and pieces else None
        line = reader.line - (1 if pieces and pieces[-1][-1:] == b"\n" else 0)
        return isinstance(last, Bar) and last.line == line and last.stamp == self._time.moment()

    def _step(self, pieces: list[bytes], index: int) -> int:
        """Read one record while the engine is not known; returns the index of the next."""
        piece = pieces[index]
        self._reader.record(piece.rstrip(b"\r\n"))
        if piece[-1] == _NEWLINE:
            self._reader.end_line()
        return index + 1
