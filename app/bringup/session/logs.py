"""The logs of the watched server: follows each, decodes it into events, folds it into lines for the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from bringup.core.errors import ChannelRefused
from bringup.core.events import Event, LogMoved, LogOpened, LogTarget, LogWritten
from bringup.hosts.base import Host
from bringup.hosts.command_log import CommandLog
from bringup.hosts.follow import Chunk, Follower
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.renamed import continues
from bringup.hosts.splice import Splice
from bringup.recordings.encoder import LogPiece, LogTurn
from bringup.session.attaching import Attaching
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.log_channel import LogChannel
from bringup.session.marks import hole_of, mark_of
from bringup.session.picture import Picture
from bringup.session.reading import LogReader
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
        self._open: dict[str, Follower | CommandLog | None] = {}
        """By path, what follows it now; None before it does."""

    @property
    def is_level(self) -> bool:
        """All that the logs held has been read, as far as it may be read; the last words of what has ended, too.

        That a process is gone may be seen before the lines with which it said why have been read.
        """
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

    async def follow(self, host: Host, targets: Sequence[LogTarget]) -> None:
        """Follow all targets until cancelled; raises ConnectionLost."""
        self._open = {target.path: None for target in targets if target.kind in READABLE}
        self._channel.follow(self._open)
        files = [target.path for target in targets if target.kind in ("file", "deleted")]
        async with asyncio.TaskGroup() as group:
            group.create_task(RoomWatch(host, files, self._picture, self._clock).run(), name="room")
            for target in targets:
                if target.kind in READABLE:
                    group.create_task(self._follow(host, target))
                else:
                    self._picture.apply([self._opened(target, 0)])

    async def _follow(self, host: Host, target: LogTarget) -> None:
        reader = await self._reader_for(host, target)
        self._picture.apply([self._opened(target, 0)])
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
                self._tell(path, item)
                reader.position = follower.position
                self._take(path, reader, item)

    async def _read_command(self, host: PrefixedHost, path: str, reader: LogReader) -> None:
        """Read on from where the reader is, until the command fails."""
        reader.splice = reader.splice or Splice(keep_stamps=host.way.kind == "unit")
        command = CommandLog(host, reader.splice, clock=self._clock.now)
        self._open[path] = command
        async with aclosing(command.items()) as chunks:
            async for chunk in chunks:
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
            self._picture.tap(LogPiece(path, item.data, item.at))
            self._picture.apply(reader.feed(item.data, item.at))
            self._show(path, reader, self._shown(path, reader, item))
            if item.written is not None:
                self._picture.apply([LogWritten(at=min(item.written, self._clock.now()))])
            self._picture.touch()
        else:
            self._picture.tap(LogTurn(path, item))
            lines: list[bytes] = []
            events: list[Event] = []
            if _is_new(reader, item):
                lines, events = reader.end(self._clock.now())
            elif item.how == "skipped":
                events = reader.decoder.close(self._clock.now())
            self._picture.apply([*events, item])
            if item.how == "padded":
                reader.hole += item.size
                return
            self._picture.add_lines([*lines, mark_of(path, item, self._picture.state.utc_offset)])

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

    def _opened(self, target: LogTarget, size: int) -> LogOpened:
        return LogOpened(at=self._clock.now(), path=target.path, kind=target.kind, size=size, note=target.note)


def _is_begun(log: Follower | CommandLog) -> bool:
    return not isinstance(log, Follower) or log.is_begun


def _is_new(reader: LogReader, moved: LogMoved) -> bool:
    """Tell whether what comes next is another log: one that is gone is read on while it is written to."""
    if moved.how in ("gone", "back", "skipped", "padded"):
        return moved.how == "back" and (reader.position is None or reader.position.offset == 0)
    return True
