"""The logs of the watched server: follows each, decodes it into events, folds it into lines for the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from bringup.core.errors import ChannelRefused
from bringup.core.events import ChannelClosed, ChannelOpened, LogMoved, LogOpened, LogTarget, LogWritten
from bringup.core.redact import mask, mask_lines
from bringup.hosts.base import Host
from bringup.hosts.follow import Chunk, Follower
from bringup.recordings.encoder import LogPiece, LogTurn
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.reading import LogReader

AGAIN = 5.0
"""Seconds before a log that was refused is tried again: somebody may be giving us the right to read it."""
READABLE = ("file", "deleted")
"""Kinds of targets that a path leads to; the others are told, not followed."""


class Logs:
    """All logs of the target. A file that was followed before is followed on from where it was left."""

    def __init__(self, picture: Picture, knowledge: Knowledge, clock: HostClock) -> None:
        self._picture = picture
        self._knowledge = knowledge
        self._clock = clock
        self._readers: dict[str, LogReader] = {}
        self._newest: LogReader | None = None
        self._open: dict[str, Follower | None] = {}
        """By path, what follows it now; None before it does."""

    @property
    def is_level(self) -> bool:
        """All that the logs held has been read, as far as it may be read."""
        return all(follower is not None and follower.is_level for follower in self._open.values())

    def open_line(self) -> bytes:
        """Return the unterminated tail of the log that was last read from."""
        return b"" if self._newest is None else mask(self._newest.folder.tail)

    async def follow(self, host: Host, targets: Sequence[LogTarget]) -> None:
        """Follow all targets until cancelled; raises ConnectionLost."""
        self._open = {target.path: None for target in targets if target.kind in READABLE}
        async with asyncio.TaskGroup() as group:
            for target in targets:
                if target.kind in READABLE:
                    group.create_task(self._follow(host, target))
                else:
                    self._picture.apply([self._opened(target, 0)])

    async def _follow(self, host: Host, target: LogTarget) -> None:
        reader = self._readers.get(target.path)
        if reader is None:
            reader = LogReader(self._knowledge, self._picture.state.utc_offset)
            self._readers[target.path] = reader
        self._picture.apply([self._opened(target, 0)])
        while True:
            try:
                await self._read(host, target.path, reader)
            except ChannelRefused as refused:
                self._open.pop(target.path, None)
                self._picture.apply([ChannelClosed(at=self._clock.now(), channel="log", why=str(refused))])
            await asyncio.sleep(AGAIN)

    async def _read(self, host: Host, path: str, reader: LogReader) -> None:
        """Read on from where the reader is, until the file is refused."""
        follower = Follower(host, path, start=reader.position or 0, clock=self._clock.now)
        self._open[path] = follower
        async with aclosing(follower.items()) as items:
            async for item in items:
                self._tell(path, item)
                self._take(path, reader, item)
                reader.position = follower.position

    def _tell(self, path: str, item: Chunk | LogMoved) -> None:
        """Say whether there is a log now."""
        at = self._clock.now()
        if isinstance(item, LogMoved) and item.how == "gone":
            why = f"{path} does not exist now; it is waited for."
            self._picture.apply([ChannelClosed(at=at, channel="log", why=why)])
        else:
            self._picture.apply([ChannelOpened(at=at, channel="log")])

    def _take(self, path: str, reader: LogReader, item: Chunk | LogMoved) -> None:
        self._newest = reader
        if isinstance(item, Chunk):
            self._picture.tap(LogPiece(path, item.data, item.at))
            self._picture.apply([*reader.decoder.feed(item.data, item.at), *reader.decoder.peek(item.at)])
            self._picture.add_lines(mask_lines(reader.folder.feed(item.data)))
            if item.written is not None:
                self._picture.apply([LogWritten(at=min(item.written, self._clock.now()))])
            self._picture.touch()
        else:
            self._picture.tap(LogTurn(path, item))
            self._picture.apply([*reader.decoder.close(self._clock.now()), item])
            self._picture.add_lines(mask_lines(reader.folder.close()))

    def _opened(self, target: LogTarget, size: int) -> LogOpened:
        return LogOpened(at=self._clock.now(), path=target.path, kind=target.kind, size=size, note=target.note)
