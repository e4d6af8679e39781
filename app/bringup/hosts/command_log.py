"""A runtime's own log command as a followed log: `docker logs -f` and the like, begun again wherever it broke off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable

from bringup.core.errors import ChannelRefused
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Stream
from bringup.hosts.follow import Chunk
from bringup.hosts.prefixed import PrefixedHost
from bringup.hosts.splice import Splice
from bringup.hosts.turns import SLICE, give_way

AGAIN = 2.0
"""Seconds before a command that ended well is run again: the container stopped, and may be started once more."""
QUIET = 1.0
"""Seconds without a byte after which all that was there has come."""
FIRST = 5
"""Times as long the first byte may take: a client asks its daemon or its API server before it prints anything."""
LAG = 60.0
"""Seconds by which the clock of a runtime may be behind: what it dates further back was there, however late it came."""


class CommandLog:
    """Follows the log of what a way leads to, as `Follower` follows a file. `sleep` and `clock` are for tests.

    No chunk has lines from both before and after the moment `apart` (epoch seconds).
    """

    def __init__(
        self,
        host: PrefixedHost,
        splice: Splice,
        *,
        quiet: float = QUIET,
        apart: float = 0.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._host = host
        self._splice = splice
        self._quiet = quiet
        self._apart = apart
        self._sleep = sleep
        self._clock = clock
        self._offset = 0
        self._level = False

    @property
    def is_level(self) -> bool:
        """All that was there when the command began has been handed out."""
        return self._level

    def has_read(self, until: float) -> bool:
        """Say whether all that was written before a moment of the clock has been handed out: it comes by itself."""
        return self._level and self._clock() >= until + self._quiet

    async def items(self) -> AsyncGenerator[Chunk, None]:
        """Yield what is new, until closed; raises ChannelRefused in the command's words, and ConnectionLost."""
        while True:
            self._splice.begin()
            begun = self._clock()
            async with self._host.log(self._splice) as stream:
                async for data in self._pieces(stream):
                    for new in self._splice.pieces(data, self._apart):
                        if new:
                            yield self._chunk(new, begun)
                    await give_way()
                done = await stream.status()
            if done.status:
                self._refuse()
            self._level = True
            await self._sleep(AGAIN)

    async def _pieces(self, stream: Stream) -> AsyncGenerator[bytes, None]:
        """Yield what comes; a read is never cut off half done."""
        reading = asyncio.ensure_future(stream.read(SLICE))
        quiet = FIRST * self._quiet
        try:
            while True:
                await asyncio.wait({reading}, timeout=None if self._level else quiet)
                if not reading.done():
                    self._level = True
                    continue
                if not (data := await reading):
                    return
                reading, quiet = asyncio.ensure_future(stream.read(SLICE)), self._quiet
                yield data
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def _chunk(self, data: bytes, begun: float) -> Chunk:
        newest = self._splice.newest
        was_there = newest is not None and newest < begun - LAG
        backlog = was_there or (not self._level and (newest is None or newest < begun))
        self._level = self._level or not backlog
        offset, self._offset = self._offset, self._offset + len(data)
        return Chunk(data, offset, backlog, at=None if backlog else self._clock(), written=newest if backlog else None)

    def _refuse(self) -> None:
        said = clean_text(self._splice.complaint.decode("utf-8", "replace")).strip()[-300:]
        raise ChannelRefused(
            f"The log of {self._host.name} cannot be had: {said or 'its command failed without a word'}.",
            "Check the name; it is tried again.",
        )
