"""One log that is read: what it means and what it shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bringup.core.decode import Decoder
from bringup.core.events import Event, LinesRead, LogEvent
from bringup.core.folding import LineFolder
from bringup.core.redact import LineMasker
from bringup.core.state import State
from bringup.hosts.position import Position
from bringup.hosts.splice import Splice
from bringup.session.knowledge import Knowledge


class LogReader:
    """Decodes one log into events, and folds it into lines for the screen."""

    def __init__(self, knowledge: Knowledge, utc_offset: float) -> None:
        self.decoder = Decoder(knowledge.engines, knowledge.wrappers, utc_offset=utc_offset)
        self.folder = LineFolder(knowledge.engines)
        self._masker = LineMasker()
        self.position: Position | None = None
        """How far it was read, where it is followed."""
        self.splice: Splice | None = None
        """The same, where it is a runtime's own log."""
        self.shown = 0
        """Offset up to which the file was shown before it was read."""
        self.is_adrift = False
        """Not all lines before were read, so that their numbers are not known."""
        self.hole = 0
        """NUL bytes passed over since the last byte of text."""

    def feed(self, data: bytes, at: float | None, by: float | None = None) -> list[Event]:
        """Return the events of the next bytes, the bar that is being drawn with them; `at` and `by` as in `Decoder`.

        NULs are no text: a log that is truncated under a writer that does not append has a hole before its next line.
        """
        text = self.text_of(data)
        events = self._placed(self.decoder.feed(text, at, by))
        if len(text) == len(data):
            return [*events, *self._placed(self.decoder.peek(at, by))]
        self.hole += len(data) - len(text)
        if not events:
            return [LinesRead(at=at or 0.0, size=len(data), lines=0, unknown=0)]
        whole = [replace(event, size=len(data)) if isinstance(event, LinesRead) else event for event in events]
        return [*whole, *self._placed(self.decoder.peek(at, by))]

    def _placed(self, events: list[Event]) -> list[Event]:
        if not self.is_adrift:
            return events
        return [replace(event, line=0) if isinstance(event, LogEvent) else event for event in events]

    def end(self, at: float) -> tuple[list[bytes], list[Event]]:
        """End the log: return the lines for the screen and the events of what is left; what comes next is another."""
        self.shown, self.is_adrift = 0, False
        return self.masked(self.folder.close()), self.decoder.close(at)

    def show(self, data: bytes) -> list[bytes]:
        """Return the lines for the screen that the next bytes complete, secrets masked."""
        return self.masked(self.folder.feed(self.text_of(data)))

    def masked(self, lines: list[bytes]) -> list[bytes]:
        """Return the next lines for the screen, secrets masked."""
        return self._masker.lines(lines)

    def open_line(self) -> bytes:
        """Return the unterminated tail, secrets masked."""
        return self._masker.peek(self.folder.tail)

    def unshown(self, data: bytes, offset: int) -> bytes:
        """Return the part of the bytes at an offset that was not shown before it was read."""
        return data[max(0, self.shown - offset) :]

    def text_of(self, data: bytes) -> bytes:
        """Return the bytes that are text."""
        return data.replace(b"\0", b"") if b"\0" in data else data


class Boundary:
    """Between the lines of one process and those of the next in the same log: no traceback goes on beyond it."""

    def __init__(self) -> None:
        self._told = False

    def read(self, state: State) -> None:
        """Take note of what a piece of a log has told."""
        self._told = state.attempt.last_line_at is not None

    def cross(self, state: State, readers: Iterable[LogReader]) -> None:
        """Before more is read, leave behind what is open where all that was read was found to be another process's."""
        if self._told and state.attempt.last_line_at is None:
            for reader in readers:
                reader.decoder.forget()
