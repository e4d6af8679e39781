"""From the bytes of a log to events: framing, wrappers, headers, tracebacks and rules, in this order.

Any way to cut the same bytes into chunks gives the same events, apart from their time of arrival.
"""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.dialect import Dialect
from bringup.core.events import Bar, Event, LinesRead
from bringup.core.framing import Framer
from bringup.core.literals import HEAD
from bringup.core.matching import NOTHING
from bringup.core.reading import Reader
from bringup.core.rules import Engine
from bringup.core.timekeeper import Timekeeper
from bringup.core.wrappers import Wrappers

_NEWLINE = 10
_LONGEST_HEADER = 96


class Decoder:
    """Reads one log. `utc_offset` (seconds east of UTC) is the zone of stamps that name none."""

    def __init__(
        self, engines: Sequence[Engine], wrappers: Wrappers, *, utc_offset: float = 0.0, engine: str | None = None
    ) -> None:
        chosen = [Dialect(known) for known in engines if engine in (None, known.name)]
        self._framer = Framer()
        self._time = Timekeeper(utc_offset)
        self._reader = Reader(chosen, wrappers, self._time, decided=engine is not None and bool(chosen))
        self._peeked = b""

    @property
    def engine(self) -> str | None:
        """Name of the engine that the log was found to be of, None until that is known."""
        return self._reader.engine

    def feed(self, data: bytes, at: float | None) -> list[Event]:
        """Return the events of the next bytes, closed by one LinesRead; `at` is when live bytes arrived.

        None is for bytes that were in the file already: the events then carry the times of their own lines.
        """
        return self._read(self._framer.split(data), len(data), at) if data else []

    def peek(self, at: float | None) -> list[Event]:
        """Return the bar that is being drawn in the unterminated tail, if it is one and has changed."""
        tail = self._framer.tail
        if tail == self._peeked:
            return []
        self._peeked = tail
        values = self._reader.bar(tail)
        if values is None:
            return []
        self._time.arrive(at)
        line, origin = self._reader.line, self._reader.origin
        values |= {"at": self._time.now(), "stamp": self._time.moment(), "line": line, "origin": origin}
        return [Bar(provisional=True, **values)]

    def close(self, at: float | None) -> list[Event]:
        """End the log: read what is left of it without a line end. What is fed later is a new file's first line."""
        rest = self._framer.close()
        events = self._read(rest, 0, at) if rest else []
        self._reader.end_file()
        return events

    def _read(self, pieces: list[bytes], size: int, at: float | None) -> list[Event]:
        """Read records with their terminators and close their events."""
        reader = self._reader
        first = reader.line
        self._time.arrive(at)
        begun = 0
        while begun < len(pieces):
            begun = self._run(pieces, begun) if reader.decided else self._step(pieces, begun)
        events = reader.events
        stamp = self._time.printed()
        heard = tuple(sorted(reader.heard))
        lines, unknown = reader.line - first, reader.unknown
        events.append(LinesRead(at=self._time.now(), size=size, lines=lines, unknown=unknown, stamp=stamp, heard=heard))
        reader.events, reader.heard, reader.unknown = [], set(), 0
        return events

    def _step(self, pieces: list[bytes], index: int) -> int:
        """Read one record while the engine is not known; returns the index of the next."""
        piece = pieces[index]
        self._reader.record(piece.rstrip(b"\r\n"))
        if piece[-1] == _NEWLINE:
            self._reader.end_line()
        return index + 1

    def _run(self, pieces: list[bytes], index: int) -> int:
        """Read the records from `index` on, all of them: the way of the many, in one piece because speed is made here.

        Almost every line begins with a header whose halves were read before, and a message whose first bytes name the
        rules to try. What is not so, and what means something, goes the long way through the reader.
        """
        reader, dialect = self._reader, self._reader.dialects[0]
        headers, main, ranks = dialect.headers, dialect.matcher.buckets, dialect.matcher.labelled
        stamps, tails, close, width = headers.stamps, headers.tails, headers.close, len(headers.close)
        limit, first, newline = _LONGEST_HEADER, HEAD, _NEWLINE
        line, reach, aside, last, heard = reader.line, headers.reach, bool(reader.origin), None, None
        for piece in pieces[index:] if index else pieces:
            record = piece.rstrip()
            stamp = stamps.get(record[:reach]) or headers.stamp(record[:reach])
            end = record.find(close, reach, limit) + width
            heading = tails.get(record[reach:end])
            if heading is None or not stamp or aside:
                reader.go_to(line, last)
                last = None
                if aside or not reader.passes(record):
                    reader.record(piece.rstrip(b"\r\n"))
                    reach, aside = headers.reach, True
            else:
                last, found = (heading, stamp), None
                shared, by_byte, anywhere = (ranks if heading.labels else main).get(record[end : end + first], NOTHING)
                for call, rule in by_byte.get(record[end + shared : end + shared + 1], anywhere):
                    if (match := call(record, end)) is not None:
                        found = rule, match
                        break
                if heading is not heard:
                    reader.heard.add(heading.labels)
                    heard = heading
                if found is None or (rule.speaks and rule.name not in reader.spent):
                    reader.go_to(line, last)
                    reader.message(record, end, found, reader.voice, dialect)
                    last = None
            if piece[-1] == newline:
                line, aside = line + 1, False
                reader.origin = ""
        reader.go_to(line, last)
        return len(pieces)
