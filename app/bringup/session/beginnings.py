"""Where in its logs the watched server begins: what stands before that is of another one, and is not judged for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from bringup.core.errors import ChannelRefused
from bringup.core.events import Event, LogBegan, LogEvent, LogMoved, Server
from bringup.hosts.base import Host
from bringup.hosts.chunk import Chunk
from bringup.hosts.control import Begin, Beginning, begins_in, find_beginning
from bringup.hosts.position import Position
from bringup.hosts.put_aside import rest_of
from bringup.hosts.renamed import find_renamed
from bringup.session.clock import HostClock
from bringup.session.picture import Picture
from bringup.session.reading import LogReader

FRESH = 30.0
"""Seconds after a launch from here within which what its log holds counts as having just come."""
NEXT = 10.0
"""Seconds after the end of a server within which a log that begins anew waits for the next one to be found."""
_LOOK = 0.02


class Beginnings:
    """Holds back what is read while a server is launched, until it is known whose it is; no line is lost."""

    def __init__(self, picture: Picture, clock: HostClock) -> None:
        self._picture = picture
        self._clock = clock
        self._due: dict[str, Begin] = {}
        """By path, where a server begins that was launched from here; until that place is passed."""
        self._offsets: dict[str, int] = {}
        """By path, at which byte of it the watched server begins; until it is passed."""
        self._past: set[str] = set()
        """Paths of which what is read now is of the server before: it was stopped here, and is not judged any more."""
        self._is_awaited = False
        """One was launched, and its logs are not followed yet."""
        self._fresh_until = 0.0
        self._fresh: set[str] = set()
        self._turn = 0
        """Counts how often the logs were followed anew."""

    @property
    def is_holding(self) -> bool:
        """Nothing is taken in now."""
        action = self._picture.state.action
        is_awaited = self._is_awaited and self._clock.now() < self._fresh_until
        return is_awaited or (action is not None and action.launches)

    async def hold(self, item: Chunk | LogMoved) -> bool:
        """Wait while an item is not to be taken in; False where the logs are followed anew since."""
        turn = self._turn
        while turn == self._turn:
            if not self.is_holding and not self._is_of_next(item):
                return True
            await asyncio.sleep(_LOOK)
        return False

    def _is_of_next(self, item: Chunk | LogMoved) -> bool:
        """Say whether a log begins anew after the server has ended: somebody launches the next one, found soon."""
        gone = self._picture.state.gone_at
        is_new = isinstance(item, LogMoved) and item.how in ("rotated", "truncated", "replaced")
        return is_new and gone is not None and self._clock.now() < gone + NEXT

    def launched(self, begins: Sequence[Begin]) -> None:
        """Take note of a launch from here, and of where its lines begin; its logs are followed next."""
        self._due = {begin.path: begin for begin in begins}
        self._is_awaited = True
        self._fresh_until = self._clock.now() + FRESH

    def follow(self, paths: Collection[str]) -> None:
        """Begin anew with logs of these paths: the only one may be another name of the only one that is known."""
        begins = tuple(self._due.values())
        self._due = {begin.path: begin for begin in begins if begin.path in paths}
        if not self._due and len(begins) == len(paths) == 1:
            self._due = dict(zip(paths, begins, strict=True))
        self._offsets, self._past, self._fresh, self._is_awaited = {}, set(), set(), False
        self._turn += 1

    async def find(self, host: Host, path: str, server: Server, read: int) -> None:
        """Find out where the log of a server begins, where that was written down at its launch, whoever launched it."""
        if path in self._due:
            return
        await self._begin_at(host, path, await find_beginning(host, server), read)

    async def turn(self, host: Host, path: str, reader: LogReader) -> AsyncGenerator[Chunk | LogMoved, None]:
        """Before a log is read on: yield what is left of the server before, where it was put aside; then begin anew."""
        position, begin = reader.position, self._due.get(path)
        if position is not None and self._clock.now() < self._fresh_until:
            self._fresh.add(path)
        if begin is None:
            return
        if position is not None and position.offset:
            self._past.add(path)
            if begin.aside:
                async with aclosing(self._aside(host, path, begin, reader)) as items:
                    async for item in items:
                        yield item
                return
        if begin.offset:
            read = position.offset if position is not None else 0
            await self._begin_at(host, path, Beginning(begin.offset, begin.before), read)
        if path not in self._offsets:
            self.passed(path)

    async def _aside(
        self, host: Host, path: str, begin: Begin, reader: LogReader
    ) -> AsyncGenerator[Chunk | LogMoved, None]:
        """Yield the rest of what was put aside, after that of a file that had been put aside before it."""
        found = await find_renamed(host, begin.path, reader.position or Position())
        names = [begin.aside]
        if found is not None:
            await found.file.close()
            names = list(dict.fromkeys((found.name, begin.aside)))
        for name in names:
            # What comes before the last of them is of the servers before, too.
            self._due[path] = begin
            self._past.add(path)
            moved = LogMoved(at=self._clock.now(), how="rotated")
            position = reader.position or Position()
            try:
                async with aclosing(rest_of(host, name, position)) as pieces:
                    async for chunk, reader.position in pieces:
                        yield chunk
            except ChannelRefused:
                moved = replace(moved, rest="missing", read=position.offset)
            reader.position = Position()
            yield moved

    async def _begin_at(self, host: Host, path: str, beginning: Beginning | None, read: int) -> None:
        if beginning is not None and read <= beginning.offset and await begins_in(host, path, beginning):
            self._offsets[path] = beginning.offset

    def passed(self, path: str) -> None:
        """Take note that what comes next is of the watched server."""
        self._due.pop(path, None)
        self._offsets.pop(path, None)
        self._past.discard(path)

    def pieces(self, path: str, reader: LogReader, chunk: Chunk) -> Iterator[Chunk]:
        """Yield a chunk in two where the watched server begins within it, and say so between them."""
        begins = self._offsets.get(path)
        if begins is None or chunk.offset + len(chunk.data) < begins:
            yield self._dated(path, chunk)
            return
        size = max(0, begins - chunk.offset)
        before, own = chunk.data[:size], chunk.data[size:]
        if before:
            yield replace(chunk, data=before, written=None if own else chunk.written)
        if path in self._past:
            reader.decoder.forget()
        self.passed(path)
        self._picture.apply([LogBegan(at=self._clock.now())])
        if own:
            yield self._dated(path, replace(chunk, data=own, offset=chunk.offset + size))

    def _dated(self, path: str, chunk: Chunk) -> Chunk:
        """Return a chunk that was there before as one that has just come, where it was written since a launch."""
        if path in self._past or path not in self._fresh:
            return chunk
        if not chunk.backlog:
            self._fresh.discard(path)
            return chunk
        return replace(chunk, backlog=False, at=self._clock.now(), written=None)

    def judged(self, path: str, events: list[Event]) -> list[Event]:
        """Return the events of a log that are taken in: what was said before explains nothing of the watched server."""
        return [event for event in events if path not in self._past or not isinstance(event, LogEvent)]
