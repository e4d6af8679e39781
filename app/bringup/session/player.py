"""Plays a recording into a state and lines for the screen, the way the session did when it happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bringup.core.events import Event, LogOpened
from bringup.core.fold import fold
from bringup.core.policy import Policy
from bringup.core.state import Link, State
from bringup.hosts.recording import Recording
from bringup.recordings.encoder import Item, LogPiece, LogTurn
from bringup.session.knowledge import Knowledge
from bringup.session.marks import another_of
from bringup.session.reading import Boundary, LogReader


def past_policy(knowledge: Knowledge) -> Policy:
    """Return the thresholds without earlier starts: those of this machine say nothing about one recorded elsewhere."""
    return replace(knowledge.policy, history={}, earlier=())


class Player:
    """The state after what was played, with a decoder for each log."""

    def __init__(self, recording: Recording, knowledge: Knowledge) -> None:
        node = recording.header.host
        self.state = State(node=node) if node else State(link=Link("up", recording.wall))
        self._wall = recording.wall
        self._knowledge = knowledge
        self._readers: dict[str, LogReader] = {}
        self._newest: LogReader | None = None
        self._boundary = Boundary()
        self._lines: list[bytes] = []

    def take(self, t: float, item: bytes | Item) -> bool:
        """Play what was seen `t` seconds after the begin; True where the state is another one now."""
        match item:
            case bytes():
                return self._read(LogPiece("", item, self._wall + t), self._wall + t)
            case LogPiece():
                return self._read(item, self._wall + t)
            case LogTurn(path, moved):
                return self._turn(self._reader(path), moved)
            case LogOpened():
                self._lines += another_of(self.state, item)
                return self._fold([item])
            case _:
                return self._fold([item])

    def take_lines(self) -> list[bytes]:
        """Return the log lines since the last call, secrets masked."""
        lines, self._lines = self._lines, []
        return lines

    def open_line(self) -> bytes:
        """Return the unterminated tail of the log that was last read from."""
        return b"" if self._newest is None else self._newest.open_line()

    def _read(self, piece: LogPiece, now: float) -> bool:
        reader = self._newest = self._reader(piece.path)
        self._lines += reader.masked(reader.folder.feed(piece.data))
        self._boundary.cross(self.state, self._readers.values())
        decoder, at = reader.decoder, piece.at
        changed = self._fold([*decoder.feed(piece.data, at, now), *decoder.peek(at, now)])
        self._boundary.read(self.state)
        return changed

    def _turn(self, reader: LogReader, moved: Event) -> bool:
        self._newest = reader
        self._lines += reader.masked(reader.folder.close())
        return self._fold([*reader.decoder.close(moved.at), moved])

    def _fold(self, events: Sequence[Event]) -> bool:
        before, self.state = self.state, fold(self.state, events)
        return self.state is not before

    def _reader(self, path: str) -> LogReader:
        if path not in self._readers:
            self._readers[path] = LogReader(self._knowledge, self.state.utc_offset)
        return self._readers[path]
