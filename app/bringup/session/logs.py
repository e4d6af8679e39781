"""The logs of the watched server: follows each, decodes it into events, folds it into lines for the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from bringup.core.errors import ChannelRefused
from bringup.core.events import Event, LogMoved, LogOpened, LogTarget, LogWritten, Server
from bringup.core.succession import SLACK
from bringup.hosts.base import Host
from bringup.hosts.command_log import CommandLog
from bringup.hosts.follow import Chunk, Follower
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.renamed import continues
from bringup.hosts.splice import Splice
from bringup.recordings.encoder import LogPiece, LogTurn
from bringup.session.attaching import Attaching
from bringup.session.beginnings import Beginnings
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.log_channel import LogChannel
from bringup.session.marks import another_of, hole_of, mark_of
from bringup.session.picture import Picture
from bringup.session.reading import Boundary, LogReader
from bringup.session.room_watch import RoomWatch

AGAIN = 5.0
"""Seconds before a log that was refused is tried again: somebody may be giving us the right to read it."""
FIRST = 2.0
"""Seconds that other channels wait for the log to be opened."""
LAST_WORDS = 0.3
"""Seconds that what was said through a pipe (`| tee`) may need to reach the log."""
_LOOK = 0.02
FLOOD = 8 << 20
"""Bytes that we may be behind a log that is written faster than we read before lines of it are left out of the pane."""
SHOWN_OF_FLOOD = 16 * 1024
"""Bytes at the end of each chunk that are shown even so."""
READABLE = ("file", "deleted", "stream")
"""Kinds of targets that a path or a runtime's own command leads to; the others are told, not followed."""


class Logs:
    """All logs of the target. A file that was followed before is followed on from where it was left."""

    def __init__(self, picture: Picture, knowledge: Knowledge, clock: HostClock) -> None:
        self._picture = picture
        self._knowledge = knowledge
        self._clock = clock
        self._channel = LogChannel(picture, clock)
        self._attaching = Attaching(picture, knowledge, clock.now, self._take)
        self._readers: dict[str, LogReader] = {}
        self._newest: LogReader | None = None
        self._boundary = Boundary()
        self._open: dict[str, Follower | CommandLog | None] = {}
        """By path, what follows it now; None before it does."""
        self.beginnings = Beginnings(picture, clock)
        """Where in them the watched server begins."""
        self._apart = 0.0
        """What a runtime's own log holds from before this moment is not of the watched server."""
        self._read_until: dict[str, float | None] = {}
        """By path, until when at most all that was read of it had been written; None where nobody can tell."""

    @property
    def is_level(self) -> bool:
        """All that the logs held has been read, as far as it may be read; the last words of what has ended, too.

        That a process is gone may be seen before the lines with which it said why have been read.
        """
        if self.beginnings.is_holding:
            return False
        followers = self._open.values()
        until = self._picture.state.last_loss
        if until is None:
            return all(follower is not None and follower.is_level for follower in followers)
        return all(follower is not None and follower.has_read(until + LAST_WORDS) for follower in followers)

    def open_line(self) -> bytes:
        """Return the unterminated tail of the log that was last read from."""
        return b"" if self._newest is None else self._newest.open_line()

    async def begun(self) -> None:
        """Wait until all logs have been opened, but not for long: of few sessions on a host the log gets the first."""
        for _ in range(int(FIRST / _LOOK)):
            if all(log is not None and _is_begun(log) for log in self._open.values()):
                return
            await asyncio.sleep(_LOOK)

    async def follow(self, host: Host, targets: Sequence[LogTarget], server: Server | None = None) -> None:
        """Follow all targets, of a server where one is known, until cancelled; raises ConnectionLost."""
        self._apart = max(0.0, server.started_at - SLACK) if server is not None else 0.0
        self._open = {target.path: None for target in targets if target.kind in READABLE}
        self._channel.follow(self._open)
        self.beginnings.follow(self._open)
        if server is not None and len(self._open) == 1 and targets[0].kind == "file":
            await self._find_beginning(host, targets[0].path, server)
        files = [target.path for target in targets if target.kind in ("file", "deleted")]
        async with asyncio.TaskGroup() as group:
            group.create_task(RoomWatch(host, files, self._picture, self._clock).run(), name="room")
            for target in targets:
                if target.kind in READABLE:
                    group.create_task(self._follow(host, target))
                else:
                    self._begin(target)

    async def _find_beginning(self, host: Host, path: str, server: Server) -> None:
        """Find out from where on the log is of this server, where that was written down at its launch."""
        if not set(self._read_until) <= {path}:
            return  # What was read of another log would count as older, too.
        known = self._readers.get(path)
        read = known.position.offset if known is not None and known.position is not None else 0
        await self.beginnings.find(host, path, server, read)

    async def _follow(self, host: Host, target: LogTarget) -> None:
        known = target.path in self._readers
        reader = await self._reader_for(host, target)
        self._begin(target, renamed=not known and reader.position is not None)
        while True:
            try:
                if isinstance(host, PrefixedHost) and target.kind == "stream":
                    await self._read_command(host, target.path, reader)
                else:
                    await self._read(host, target.path, reader)
            except ChannelRefused as refused:
                self._open.pop(target.path, None)
                self._channel.refuse(target.path, str(refused), was_read=reader.position is not None)
            await asyncio.sleep(AGAIN)

    async def _reader_for(self, host: Host, target: LogTarget) -> LogReader:
        """Return what has read this log so far, under whatever name: a deleted log is read on through a descriptor."""
        reader = self._readers.get(target.path)
        if reader is not None:
            return reader
        left = {path: known for path, known in self._readers.items() if path not in self._open and known.position}
        if left and target.kind != "stream":
            reader = await self._same_bytes(host, target.path, left)
        if reader is None:
            reader = LogReader(self._knowledge, self._picture.state.utc_offset)
        self._readers[target.path] = reader
        return reader

    async def _same_bytes(self, host: Host, path: str, left: dict[str, LogReader]) -> LogReader | None:
        """Take over a reader of another path whose bytes the file at this one has."""
        try:
            file = await host.open(path)
            try:
                for old, reader in left.items():
                    position = reader.position
                    if position is not None and position.before and await continues(file, position):
                        return self._readers.pop(old)
            finally:
                await file.close()
        except ChannelRefused:
            # What is wrong with it is said when it is followed.
            return None
        return None

    async def _read(self, host: Host, path: str, reader: LogReader) -> None:
        """Read on from where the reader is, until the file is refused."""
        async with aclosing(self.beginnings.turn(host, path, reader)) as items:
            async for item in items:
                self._take(path, reader, item)
        if reader.position is None:
            await self._attaching.attach(host, path, reader)
        follower = Follower(
            host,
            path,
            start=reader.position or 0,
            hangs=lambda hangs: self._tell_hanging(path, hangs=hangs),
            opened=lambda: self._channel.open(path),
            clock=self._clock.now,
        )
        self._open[path] = follower
        async with aclosing(follower.items()) as items:
            async for item in items:
                if not await self.beginnings.hold(item):
                    return
                self._tell(path, item)
                reader.position = follower.position
                self._take(path, reader, item)

    async def _read_command(self, host: PrefixedHost, path: str, reader: LogReader) -> None:
        """Read on from where the reader is, until the command fails."""
        reader.splice = reader.splice or Splice(keep_stamps=host.way.kind == "unit")
        command = CommandLog(host, reader.splice, apart=self._apart, clock=self._clock.now)
        self._open[path] = command
        async with aclosing(command.items()) as chunks:
            async for chunk in chunks:
                try:
                    await self.beginnings.hold(chunk)
                finally:
                    # The command does not say it again.
                    self._tell(path, chunk)
                    self._take(path, reader, chunk)

    def _tell(self, path: str, item: Chunk | LogMoved) -> None:
        """Say whether there is a log now."""
        if isinstance(item, LogMoved) and item.how == "gone":
            self._channel.close(path, f"{path} does not exist now; it is waited for.")
        else:
            self._channel.open(path)

    def _tell_hanging(self, path: str, *, hangs: bool) -> None:
        """Say that reading a log hangs, and that it goes on."""
        if hangs:
            why = f"{path} does not answer: its file system (a network one?) hangs. It is waited for."
            self._channel.close(path, why)
        else:
            self._channel.open(path)

    def _take(self, path: str, reader: LogReader, item: Chunk | LogMoved) -> None:
        self._newest = reader
        if isinstance(item, Chunk):
            for piece in self.beginnings.pieces(path, reader, item):
                self._take_chunk(path, reader, piece)
        else:
            self._picture.tap(LogTurn(path, item))
            lines: list[bytes] = []
            events: list[Event] = []
            if _is_new(reader, item):
                lines, events = reader.end(self._clock.now())
                events = self.beginnings.judged(path, events)
                self.beginnings.passed(path)
            elif item.how == "skipped":
                events = reader.decoder.close(self._clock.now())
            self._picture.apply([*events, item])
            if item.how == "padded":
                reader.hole += item.size
                return
            self._picture.add_lines([*lines, mark_of(path, item, self._picture.state.utc_offset)])

    def _take_chunk(self, path: str, reader: LogReader, chunk: Chunk) -> None:
        self._picture.tap(LogPiece(path, chunk.data, chunk.at))
        self._boundary.cross(self._picture.state, self._readers.values())
        events = reader.feed(chunk.data, chunk.at, self._clock.now())
        self._picture.apply(self.beginnings.judged(path, events))
        self._boundary.read(self._picture.state)
        self._show(path, reader, self._shown(path, reader, chunk))
        self._date(path, chunk)
        self._picture.touch()

    def _date(self, path: str, chunk: Chunk) -> None:
        """Say when the log was last written to; where that is known of all logs, for all of them together."""
        written = None if chunk.written is None else min(chunk.written, self._clock.now())
        self._read_until[path] = written if chunk.backlog else chunk.at
        if written is None:
            return
        known = [at for at in self._read_until.values() if at is not None]
        whole = len(known) == len(self._read_until)
        self._picture.apply([LogWritten(at=max(known) if whole else written, whole=whole)])

    def _shown(self, path: str, reader: LogReader, chunk: Chunk) -> bytes:
        """Return the text of a chunk that is shown: in a flood that is faster than we are, only its end."""
        text = reader.text_of(reader.unshown(chunk.data, chunk.offset))
        follower = self._open.get(path)
        behind = follower.size - follower.position.offset if isinstance(follower, Follower) else 0
        if chunk.backlog or behind <= FLOOD:
            return text
        first, last = text.find(b"\n") + 1, text.rfind(b"\n", 0, -SHOWN_OF_FLOOD) + 1
        if last <= first:
            return text
        self._picture.add_lines(reader.masked(reader.folder.feed(text[:first])))
        self._picture.skip(text.count(b"\n", first, last))
        return text[last:]

    def _show(self, path: str, reader: LogReader, text: bytes) -> None:
        """Add lines to the screen, and a mark where a hole came before them."""
        if text and reader.hole:
            self._picture.add_lines([hole_of(path, reader.hole, self._clock.now(), self._picture.state.utc_offset)])
            reader.hole = 0
        self._picture.add_lines(reader.masked(reader.folder.feed(text)))

    def _begin(self, target: LogTarget, *, renamed: bool = False) -> None:
        """Say which log is read; where it takes the place of another one, in the pane too."""
        now, before = self._clock.now(), self._picture.state
        opened = LogOpened(at=now, path=target.path, kind=target.kind, note=target.note, renamed=renamed)
        self._picture.apply([opened])
        self._picture.add_lines(another_of(before, opened))


def _is_begun(log: Follower | CommandLog) -> bool:
    return not isinstance(log, Follower) or log.is_begun


def _is_new(reader: LogReader, moved: LogMoved) -> bool:
    """Tell whether what comes next is another log: one that is gone is read on while it is written to."""
    if moved.how in ("gone", "back", "skipped", "padded"):
        return moved.how == "back" and (reader.position is None or reader.position.offset == 0)
    return True
