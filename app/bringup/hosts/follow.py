"""Following a log: every byte once and in order, whatever happens to the file.

A log is followed by offset through an open handle. Two things prove that the bytes at the offset continue what was
read: the first 64 bytes of the file are still the same, and so are the 64 bytes before the offset, which are read again
with each look. `tail -F` proves nothing and loses lines when a server is started anew onto the same file: truncated and
grown past the old offset, the file looks as if it had only grown.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Literal

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogMoved
from bringup.hosts.base import FileLook, Host, OpenFile
from bringup.hosts.chunk import Chunk as Chunk
from bringup.hosts.chunk import How, Item, Rest, Step
from bringup.hosts.denied import denial
from bringup.hosts.hanging import Answer, Tell, answer, pass_by
from bringup.hosts.holes import Holes
from bringup.hosts.pace import Pace
from bringup.hosts.position import Position as Position
from bringup.hosts.position import begin_in
from bringup.hosts.renamed import continues
from bringup.hosts.turned import Ahead, Same, how_anew, is_same
from bringup.hosts.turns import SLICE, give_way

LOOKAHEAD = 32
"""Chunks asked for at once while far behind: over a slow link each look costs a round trip."""
PATIENCE = 3
"""Failed looks in a row after which the file is given up."""


class Follower:
    """Follows one log of a host from an offset, from its end ("tail"), or from where another follower stopped.

    A file that is not there is waited for. Chunks have at most `max_read` bytes, and everything else has its turn after
    each. `hangs` is told when the file does not answer (True) and when it does again (False): it is waited for, since
    what reads from a network file system that hangs cannot be ended; `opened` is called whenever the path was opened.
    `sleep` and `clock` are injected by tests.
    """

    def __init__(
        self,
        host: Host,
        path: str,
        *,
        start: int | Literal["tail"] | Position = 0,
        max_read: int = SLICE,
        hangs: Tell = pass_by,
        opened: Callable[[], None] = lambda: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._host = host
        self._path = path
        self._start = start
        self._max_read = max_read
        self._hangs = hangs
        self._opened = opened
        self._sleep = sleep
        self._clock = clock
        self._position = start if isinstance(start, Position) else Position()
        self._holes = Holes(host, path)
        self._backlog = 0
        self._size = 0
        self._written: float | None = None
        self._entered = False
        self._gone = False
        self._file: OpenFile | None = None
        self._ahead = Ahead(host, path)
        self._pace = Pace()
        self._failures = 0
        self._ended = 0.0

    @property
    def position(self) -> Position:
        """Behind the last chunk that was handed out; another follower can be started from it."""
        return self._position

    @property
    def size(self) -> int:
        """Bytes of the file when it was last looked at."""
        return self._size

    @property
    def is_begun(self) -> bool:
        """The file has been looked for."""
        return self._gone or self._entered

    @property
    def is_level(self) -> bool:
        """All that was there at the last look has been handed out; so it is where the path names no file."""
        return self._gone or (self._entered and self._position.offset >= self._size and not self._ahead.is_pending)

    def has_read(self, until: float) -> bool:
        """Say whether all that was written before a moment of the clock has been handed out."""
        return self._gone or (self.is_level and self._ended >= until)

    async def items(self) -> AsyncGenerator[Item, None]:
        """Yield chunks and what became of the file, until closed (`aclosing`) or cancelled.

        After "rotated", "truncated" and "replaced" come the bytes of a new log, from its start. "gone" says that the
        path names no file, at first or any more; after "back" comes a new log too, unless the offset of the next chunk
        goes on from the last one: then it is the same file again. With "padded", NULs were passed over.

        Raises ChannelRefused for what may not be read or is no file, and ConnectionLost.
        """
        try:
            while True:
                try:
                    step = await self._step()
                except ChannelRefused as refused:
                    step = await self._refused(refused)
                if step.moved:
                    at = self._clock()
                    yield LogMoved(at=at, how=step.moved, size=step.size, rest=step.rest, read=step.read)
                for piece in self._cut(step.data):
                    yield self._hand_out(piece, step)
                    await give_way()
                await self._sleep(step.pause)
        finally:
            await self._close()

    def _cut(self, data: bytes) -> list[bytes]:
        """Cut bytes into chunks; none of them is part backlog, part live."""
        old = max(0, self._backlog - self._position.offset)
        size = self._max_read
        return [part[at : at + size] for part in (data[:old], data[old:]) for at in range(0, len(part), size)]

    def _hand_out(self, data: bytes, step: Step) -> Chunk:
        offset = self._position.offset
        self._position = self._position.after(data, step.head, step.node)
        if offset >= self._backlog:
            return Chunk(data, offset, backlog=False, at=self._clock())
        ends = self._position.offset >= self._backlog
        return Chunk(data, offset, backlog=True, written=self._written if ends else None)

    async def _step(self) -> Step:
        if self._file is None:
            return await self._enter()
        position = self._position
        size = min(max(self._size - position.offset, self._max_read), LOOKAHEAD * self._max_read)
        asked = self._clock()
        look = await self._answer(self._file.look(position.asked, size + len(position.before)))
        known, self._size = self._size, look.size
        self._failures, self._written = 0, look.written
        if not position.continues_in(look):
            return await self._turned(look, known)
        data = look.data[len(position.before) :]
        beyond = await self._answer(self._holes.beyond(position, look, data))
        if beyond is not None:
            self._position = beyond
            return Step(moved="padded", size=beyond.offset - position.offset)
        data = self._holes.text_of(position, data, look.head)
        if self._holes.is_filling(position):
            self._size = position.offset + len(data)
        more = position.offset + len(data) < self._size
        self._ended = self._ended if more else asked
        if data:
            return Step(0.0 if more else self._pace.moving(), data=data, head=look.head, node=look.node)
        if look.moved or self._ahead.is_old:
            return await self._elsewhere(look)
        if self._gone:
            self._gone = False
            return Step(moved="back")
        refilled = await self._answer(self._holes.refilled(self._file))
        if refilled is not None:
            self._position, self._backlog = refilled, 0
            return Step(moved="replaced")
        return Step(self._pace.resting())

    async def _answer(self, asked: Awaitable[Answer]) -> Answer:
        return await answer(asked, self._hangs)

    async def _enter(self) -> Step:
        """Open what the path names, and find where to go on in it."""
        self._file = await self._answer(self._host.open(self._path))
        first, waited = not self._entered, self._gone
        if first and not waited and not isinstance(self._start, Position):
            self._position = await begin_in(self._file, self._start)
        look = await self._answer(self._file.look(self._position.asked, max(1, len(self._position.before))))
        same = is_same(self._position, look)
        if not self._position.continues_in(look):
            look = await self._renamed("truncated" if same == "same" else "rotated") or look
        self._size, self._entered, self._gone = look.size, True, False
        goes_on = self._position.continues_in(look)
        step = Step() if goes_on else self._anew(look, same, "missing" if self._position.offset else "")
        self._opened()
        if waited:
            return replace(step, moved="back")
        if first:
            self._backlog = look.size
        return step

    async def _renamed(self, how: How) -> FileLook | None:
        """Read what was read before to its end first, where it still is under another name, or a copy of it."""
        old = await self._answer(self._ahead.renamed(self._position, self._file, how))
        if old is None:
            return None
        self._file = old
        return await self._answer(old.look(self._position.asked, max(1, len(self._position.before))))

    async def _turned(self, look: FileLook, known: int) -> Step:
        """Go on where what was read is not there any more; `known` bytes had been seen to be there.

        It was truncated, or written anew: what was written to it at the end may be in a copy beside it (copytruncate).
        """
        if self._ahead.is_old or not (look.exists or look.data or look.head):
            self._ahead.rest = "missing" if self._ahead.is_old else ""
            return await self._elsewhere(look)
        same: Same = "other" if is_same(self._position, look) == "other" else "same"
        if (old := await self._renamed(how_anew(self._position, look, same))) is not None:
            self._size = old.size
            return Step()
        if same == "other":
            self._ahead.rest = "missing"
            return await self._elsewhere(look)
        return self._anew(look, same, "missing" if known > self._position.offset else "")

    async def _elsewhere(self, look: FileLook) -> Step:
        """Go on in what the path names now, once there is something in it and nothing more in the old file.

        Until then the old one stays open: a server that still has it writes to it, whatever its name is now.
        """
        ahead = self._ahead
        if not look.exists and not ahead.is_old:
            await ahead.drop_next()
            return self._vanished()
        if ahead.next is None:
            try:
                ahead.next = await self._answer(self._host.open(self._path))
            except ChannelRefused as refused:
                if refused.reason == "missing":
                    return self._vanished()
                raise
        if ahead.is_pending:
            return await self._move_on()
        following = await self._answer(ahead.next.look(0, 1))
        if not following.data:
            await ahead.drop_next(only_if=following.moved)
            return Step(self._pace.resting())
        ahead.begun = True
        if await self._answer(continues(ahead.next, self._position)):
            await self._replace_file(ahead.take_next())
            return Step()
        if not following.moved:
            await self._answer(ahead.search(self._position))
        return Step()

    async def _replace_file(self, file: OpenFile | None) -> None:
        old, self._file = self._file, file
        if old is not None:
            await old.close()

    async def _move_on(self) -> Step:
        """Begin the next file: what was rotated meanwhile comes before what the path names."""
        between = await self._answer(self._ahead.take_between())
        read, how, rest = self._position.offset, self._ahead.how, self._ahead.rest
        if between is not None:
            how, rest = "rotated", ""
        file, position = between or (self._ahead.take_next(), Position())
        await self._replace_file(file)
        self._holes = Holes(self._host, self._path)
        self._position, self._backlog = position, 0
        waited, self._gone = self._gone, False
        return Step(moved="back" if waited else how, rest=rest, read=read)

    def _anew(self, look: FileLook, same: Same, rest: Rest) -> Step:
        read, how = self._position.offset, how_anew(self._position, look, same)
        self._holes.anew(look)
        self._position, self._backlog = Position(), 0
        return Step(moved=how, rest=rest, read=read)

    def _vanished(self) -> Step:
        told, self._gone = self._gone, True
        return Step(self._pace.resting(), moved=None if told else "gone")

    async def _refused(self, refused: ChannelRefused) -> Step:
        """Wait for a file that is missing, try again where a look failed; raise for what will not be had."""
        await self._close()
        if refused.reason == "missing":
            return self._vanished()
        if refused.reason == "denied":
            raise await denial(self._host, self._path) from refused
        self._failures += 1
        if refused.reason == "unsupported" or self._failures >= PATIENCE:
            raise refused
        return Step(self._pace.resting())

    async def _close(self) -> None:
        await self._ahead.close()
        if self._file is not None:
            await self._file.close()
        self._file = None
