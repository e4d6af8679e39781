"""One log that is read: what it means and what it shows."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.decode import Decoder
from bringup.core.events import Event, LinesRead
from bringup.core.folding import LineFolder
from bringup.hosts.position import Position
from bringup.hosts.splice import Splice
from bringup.session.knowledge import Knowledge


class LogReader:
    """Decodes one log into events, and folds it into lines for the screen."""

    def __init__(self, knowledge: Knowledge, utc_offset: float) -> None:
        self.decoder = Decoder(knowledge.engines, knowledge.wrappers, utc_offset=utc_offset)
        self.folder = LineFolder(knowledge.engines)
        self.position: Position | None = None
        """How far it was read, where it is followed."""
        self.splice: Splice | None = None
        """The same, where it is a runtime's own log."""
        self.hole = 0
        """NUL bytes passed over since the last byte of text."""

    def feed(self, data: bytes, at: float | None) -> list[Event]:
        """Return the events of the next bytes, the bar that is being drawn with them.

        NULs are no text: a log that is truncated under a writer that does not append has a hole before its next line.
        """
        text = self.text_of(data)
        events = self.decoder.feed(text, at)
        if len(text) == len(data):
            return [*events, *self.decoder.peek(at)]
        self.hole += len(data) - len(text)
        if not events:
            return [LinesRead(at=at or 0.0, size=len(data), lines=0, unknown=0)]
        whole = [replace(event, size=len(data)) if isinstance(event, LinesRead) else event for event in events]
        return [*whole, *self.decoder.peek(at)]

    def text_of(self, data: bytes) -> bytes:
        """Return the bytes that are text."""
        return data.replace(b"\0", b"") if b"\0" in data else data
