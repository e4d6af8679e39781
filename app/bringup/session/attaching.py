"""The first reading of a large log: its end is shown at once, its last launch is read, the serving between is not."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

from bringup.core.decode import Decoder
from bringup.core.errors import ChannelRefused
from bringup.core.events import Launch, LogMoved
from bringup.hosts.attach import BIG, Plan, make_plan
from bringup.hosts.base import Host, OpenFile
from bringup.hosts.follow import Chunk, Follower
from bringup.hosts.position import Position, position_at
from bringup.session.knowledge import Knowledge
from bringup.session.marks import tail_of
from bringup.session.picture import Picture
from bringup.session.reading import LogReader

SHOWN = 64 << 10
"""Bytes of the end that are shown at once."""
AFTER_READY = 256 << 10
"""Bytes read behind the line with which a server is ready: what the first requests showed."""
Take = Callable[[str, LogReader, Chunk | LogMoved], None]


class Attaching:
    """Brings a reader to the end of a large log; `take` is what reads a chunk or a move."""

    def __init__(self, picture: Picture, knowledge: Knowledge, clock: Callable[[], float], take: Take) -> None:
        self._picture = picture
        self._knowledge = knowledge
        self._clock = clock
        self._take = take

    async def attach(self, host: Host, path: str, reader: LogReader) -> None:
        """Read what is worth it of a large log, and leave the reader where following goes on.

        A log that is small, or cannot be searched, is left to be read whole. Raises ChannelRefused and ConnectionLost.
        """
        try:
            file = await host.open(path)
        except ChannelRefused:
            return  # whoever follows it waits for it, or says what is wrong
        try:
            size = (await file.look(0, 1)).size
            if size < BIG:
                return
            plan = await self._plan(host, path, file, size, reader)
            if plan is not None:
                await self._read(host, path, file, reader, plan)
        finally:
            await file.close()

    async def _plan(self, host: Host, path: str, file: OpenFile, size: int, reader: LogReader) -> Plan | None:
        """Search for the launch while the end is shown, as it grows."""
        words = launch_words(self._knowledge, await self._engine(file, size))
        showing = asyncio.create_task(self._show(host, path, size, reader), name="end of the log")
        try:
            return await make_plan(host, path, file, size, words, self._is_launch)
        except ChannelRefused:
            # Without a search it is read whole, which takes long and loses nothing.
            reader.shown = 0
            return None
        finally:
            showing.cancel()
            with contextlib.suppress(asyncio.CancelledError, ChannelRefused):
                await showing

    async def _show(self, host: Host, path: str, size: int, reader: LogReader) -> None:
        """Show the end of the log until cancelled; what a line before it began is left out."""
        follower = Follower(host, path, start=size - SHOWN, clock=self._clock)
        offset = self._picture.state.utc_offset
        self._picture.add_lines([tail_of(path, size - SHOWN, self._clock(), offset)])
        first = True
        async with aclosing(follower.items()) as items:
            async for item in items:
                if isinstance(item, LogMoved):
                    return  # what became of it is told when it is followed
                data = item.data[item.data.find(b"\n") + 1 :] if first else item.data
                first = False
                self._picture.add_lines(reader.show(data))
                reader.shown = follower.position.offset

    async def _read(self, host: Host, path: str, file: OpenFile, reader: LogReader, plan: Plan) -> None:
        shown = reader.shown
        # The start-up is read, not shown: the end of the log is on the screen already.
        reader.shown = max(shown, plan.until)
        if plan.nuls:
            self._take(path, reader, LogMoved(at=self._clock(), how="padded", size=plan.nuls))
        self._jump(path, reader, plan.launch - plan.nuls)
        until, ready = plan.until, False
        follower = Follower(host, path, start=await position_at(file, plan.launch), clock=self._clock)
        async with aclosing(follower.items()) as items:
            async for item in items:
                if isinstance(item, LogMoved):
                    reader.position = Position()
                    reader.shown = 0
                    return
                self._take(path, reader, replace(item, data=item.data[: until - item.offset]))
                reader.position = follower.position
                if follower.position.offset >= until:
                    break
                if self._is_up() and not ready:
                    ready, until = True, min(until, follower.position.offset + AFTER_READY)
        reader.position = await position_at(file, until)
        if until < plan.tail:
            self._jump(path, reader, plan.tail - until)
            reader.position = await position_at(file, plan.tail)
        reader.shown = shown

    def _jump(self, path: str, reader: LogReader, size: int) -> None:
        """Pass over `size` bytes; the line numbers are not known from there on."""
        if size == 0:
            return
        reader.is_adrift = True
        self._take(path, reader, LogMoved(at=self._clock(), how="skipped", size=size))

    def _is_up(self) -> bool:
        """The start is over: what follows is serving."""
        return any(milestone == "ready" for milestone, _ in self._picture.state.attempt.reached)

    async def _engine(self, file: OpenFile, size: int) -> str | None:
        """Return whose log it is, by its end or its beginning; None where neither tells."""
        for offset in (size - SHOWN, 0):
            decoder = Decoder(self._knowledge.engines, self._knowledge.wrappers)
            decoder.feed((await file.look(offset, SHOWN)).data, None)
            if decoder.engine is not None:
                return decoder.engine
        return None

    def _is_launch(self, line: bytes) -> bool:
        decoder = Decoder(self._knowledge.engines, self._knowledge.wrappers)
        return any(isinstance(event, Launch) and not event.echo for event in decoder.feed(line + b"\n", None))


def launch_words(knowledge: Knowledge, engine: str | None = None) -> tuple[str, ...]:
    """Return the texts of which each line that begins a launch (of one engine, or of any) holds one."""
    words: list[str] = []
    for known in knowledge.engines:
        if known.yields or engine not in (None, known.name):
            continue
        for rule in known.rules:
            if rule.event is Launch and not rule.fixed.get("echo"):
                words += [rule.head] if rule.head else rule.needles
    return tuple(dict.fromkeys(words))
