"""Takes down what a session sees: on the tape of the present start, and into every recording that runs.

All of it blocks, and is called from one thread at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from bringup.core.events import Event, HostSeen, LinkChanged, ServerFound
from bringup.recordings.encoder import Encoder, Item, LogPiece
from bringup.recordings.tape import Tape
from bringup.recordings.writer import Writer

_FLUSH_AFTER = 4 << 20
"""Bytes of logs after which the rows are written, whatever else is waiting."""


class Reel:
    """The rows of a session. Nothing is kept from before the host has answered: until then its clock is not known."""

    def __init__(self) -> None:
        self._encoder: Encoder | None = None
        self._tape = Tape()
        self._first: dict[type[Event], Event] = {}
        """What a recording of a later start must begin with."""
        self._server: tuple[int, int] | None = None
        self._writers: list[Writer] = []

    @property
    def is_whole(self) -> bool:
        """The present start was held from its beginning until now."""
        return not self._tape.is_full

    def take(self, seen: Iterable[tuple[Item, float]]) -> None:
        """Take down what was seen, each with the time on the host's clock."""
        size = 0
        for item, now in seen:
            self._take(item, now)
            size += len(item.data) if isinstance(item, LogPiece) else 0
            if size > _FLUSH_AFTER:
                self._flush()
                size = 0
        self._flush()

    def lose(self, why: str) -> None:
        """Learn that something was left out: what runs ends there, and what begins later begins after it."""
        self._tape.stop()
        for writer in self._writers:
            writer.give_up(why)
        if self._encoder is not None:
            self._encoder.lose()

    def open(self, path: Path, header: Mapping[str, object], most: int, now: float) -> Writer:
        """Begin a recording with what the tape holds; raises BringupError where its file cannot be made."""
        began = self._encoder.began if self._encoder is not None else now
        writer = Writer(path, header, began, most)
        for rows in self._tape.rows():
            writer.add(rows)
            writer.flush()
        self._writers.append(writer)
        return writer

    def end(self, writer: Writer) -> None:
        """End a recording."""
        if writer in self._writers:
            self._writers.remove(writer)
            writer.close()

    def close(self, now: float) -> None:
        """End all recordings."""
        if self._encoder is not None:
            self._spread(self._encoder.close(now))
        for writer in [*self._writers]:
            self.end(writer)

    def _take(self, item: Item, now: float) -> None:
        if isinstance(item, HostSeen | LinkChanged):
            self._first[type(item)] = item
        if self._encoder is None:
            if not isinstance(item, HostSeen):
                return
            self._encoder = Encoder(now)
        if isinstance(item, ServerFound):
            self._turn(self._encoder, item, now)
        if self._tape.is_full and not self._writers:
            self._encoder.lose()
            return
        self._spread(self._encoder.rows(item, now))

    def _turn(self, encoder: Encoder, found: ServerFound, now: float) -> None:
        """Begin a new tape with another server: what was before it is another start."""
        server = (found.server.pid, found.server.start)
        if self._server not in (None, server):
            self._tape = Tape()
            for event in self._first.values():
                self._tape.add(encoder.rows(event, now))
        self._server = server

    def _spread(self, rows: list[bytes]) -> None:
        self._tape.add(rows)
        for writer in self._writers:
            writer.add(rows)

    def _flush(self) -> None:
        for writer in self._writers:
            writer.flush()
