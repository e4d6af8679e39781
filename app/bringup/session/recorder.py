"""Records what a session sees: every start by itself where that is wanted, and whatever the operator asks for.

What is seen waits in a queue for a thread that masks, packs and writes it once a second. Nothing that goes wrong there
reaches the watch: it is told once, as a channel that cannot be had.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bringup.core.defects import failure_of
from bringup.core.events import ChannelClosed, ServerFound
from bringup.core.verdict import StateName, Verdict
from bringup.core.words import duration
from bringup.recordings.encoder import Item, LogPiece
from bringup.recordings.place import STEP, Keeping, make_room
from bringup.recordings.reel import Reel
from bringup.recordings.writer import Writer
from bringup.session.clock import HostClock
from bringup.session.console import Recorded
from bringup.session.picture import Picture

EVERY = 1.0
"""Seconds between two writings: as much is lost when we are killed."""
AFTER = 300.0
"""Seconds for which a start that is over is recorded on: what it does with its first requests belongs to it."""
LAST_WORD = 2.0
"""Seconds that the end of a session waits for the disk."""
OVER: tuple[StateName, ...] = ("ready", "degraded", "failed", "stopped", "standby")
"""States in which a start is over."""
_GOING: tuple[StateName, ...] = ("starting", "slow", "stalled")
_JUST = 60.0
"""Seconds since the launch within which a start that has ended already was seen whole."""
_ENDLESS = 1 << 50
"""Bytes of a recording that was asked for: only the disk limits it."""
_WAKE = 4 << 20
_MOST = 64 << 20
"""Bytes of logs that may wait: beyond it, what waits is left out, and what is being recorded ends."""
_TOO_FAST = "More of the log came at once than could be written: the recording ended there."


@dataclass(slots=True)
class _Running:
    """A recording that nobody asked for."""

    writer: Writer
    over_since: float | None = None
    outlived: bool = False
    """Another start has begun."""
    roomy: int = 0
    """Bytes that it had when room was made for more of it."""


class Recorder:
    """Listens to a picture. `judge` gives the verdict of now, `is_level` tells whether the logs were read so far."""

    def __init__(
        self,
        keeping: Keeping,
        target: str,
        picture: Picture,
        clock: HostClock,
        judge: Callable[[], Verdict],
        is_level: Callable[[], bool],
    ) -> None:
        self._keeping = keeping
        self._target = target
        self._picture = picture
        self._clock = clock
        self._judge = judge
        self._is_level = is_level
        self._reel = Reel()
        self._queue: list[tuple[Item, float]] = []
        self._waiting = 0
        self._lost = False
        """Something that was seen was left out."""
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()
        self._server: tuple[int, int] | None = None
        self._own: _Running | None = None
        self._own_done = False
        self._asked: tuple[Writer, float] | None = None
        self._told: set[str] = set()
        picture.tap = self._hear

    @property
    def asked(self) -> Path | None:
        """Where the recording goes that the operator asked for; None while there is none."""
        return self._asked[0].path if self._asked is not None else None

    @property
    def trouble(self) -> str:
        """Why the recording that the operator asked for does not grow any more, as a sentence; empty while it does."""
        return self._asked[0].ended if self._asked is not None else ""

    @property
    def recorded(self) -> Recorded:
        """Whether a recording grows now, and whether it was asked for."""
        if self._asked is not None and not self._asked[0].ended:
            return "asked"
        return "by-itself" if self._own is not None and not self._own.writer.ended else ""

    async def run(self) -> None:
        """Write, begin and end recordings until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), EVERY)
            self._wake.clear()
            await self.look()

    async def look(self) -> None:
        """Write what was seen, and begin or end the recording of the present start; never raises."""
        try:
            await self._drain()
            await self._keep()
        except Exception as error:  # noqa: BLE001 - a console goes on without its recording, and says so
            self._own_done = True
            self._tell(str(failure_of(error)))

    async def begin(self, path: Path) -> None:
        """Record into a file, from the beginning of the present start; raises BringupError where it cannot be made."""
        async with self._turn:
            self._asked = (await self._open(path), self._clock.now())

    async def toggle(self) -> str:
        """Begin a recording in the data folder, or end it; return in a sentence what was done. Raises BringupError."""
        if self._asked is not None:
            return await self.end()
        await self._drain()
        now = self._clock.now()
        path = self._keeping.path(self._target, now, own=False)
        await self.begin(path)
        since = "from the beginning of this start" if self._reel.is_whole else "from now on"
        return f"Recording to {path}, {since}. The same key ends it."

    async def end(self) -> str:
        """End the recording that was asked for; return in a sentence where it is."""
        await self._drain()
        async with self._turn:
            if self._asked is None:
                return "Nothing was being recorded."
            (writer, since), self._asked = self._asked, None
            trouble = writer.ended
            await asyncio.to_thread(self._reel.end, writer)
        took = duration(self._clock.now() - since)
        return trouble or f"Recorded for {took}: {writer.path}. See it again with `bringup replay`."

    async def finish(self) -> None:
        """Write the rest and end all recordings; a disk that hangs does not hold up whoever leaves."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORD):
                await self.look()
                async with self._turn:
                    await asyncio.to_thread(self._reel.close, self._clock.now())

    # --- the queue ---

    def _hear(self, item: Item) -> None:
        self._queue.append((item, self._clock.now()))
        if isinstance(item, ServerFound):
            self._notice((item.server.pid, item.server.start))
        if isinstance(item, LogPiece):
            self._waiting += len(item.data)
            if self._waiting > _WAKE:
                self._wake.set()
            if self._waiting > _MOST:
                self._queue, self._waiting, self._lost = [], 0, True

    async def _drain(self) -> None:
        async with self._turn:
            seen, self._queue, self._waiting = self._queue, [], 0
            lost, self._lost = self._lost, False
            if lost:
                await asyncio.to_thread(self._reel.lose, _TOO_FAST)
            await asyncio.to_thread(self._reel.take, seen)
        for writer in self._writers():
            if writer.ended:
                self._tell(writer.ended)

    def _writers(self) -> list[Writer]:
        own = [self._own.writer] if self._own is not None else []
        return own + ([self._asked[0]] if self._asked is not None else [])

    # --- the recording of every start ---

    def _notice(self, server: tuple[int, int]) -> None:
        """Another server is another start."""
        if server != self._server:
            self._own_done = False
            self._told.clear()
            if self._own is not None and self._server is not None:
                self._own.outlived = True
        self._server = server

    async def _keep(self) -> None:
        if self._own is None:
            if self._keeping.always and not self._own_done and self._is_worth_it():
                await self._begin_own()
            return
        own, now = self._own, self._clock.now()
        is_over = self._judge().state in OVER
        own.over_since = (own.over_since or now) if is_over else None
        if own.outlived or (own.over_since is not None and now - own.over_since >= AFTER):
            self._own, self._own_done = None, not own.outlived
            async with self._turn:
                await asyncio.to_thread(self._reel.end, own.writer)
        elif own.writer.size - own.roomy >= STEP:
            own.roomy = own.writer.size
            await asyncio.to_thread(make_room, self._keeping)

    def _is_worth_it(self) -> bool:
        """A start goes on, or has just failed; nobody wants to see a server again that was up when we came."""
        if not self._is_level() or self._picture.state.link.status != "up":
            return False
        verdict = self._judge()
        young = verdict.since is not None and self._clock.now() - verdict.since < _JUST
        return verdict.state in _GOING or (verdict.state in OVER and young)

    async def _begin_own(self) -> None:
        keeping = self._keeping
        async with self._turn:
            await asyncio.to_thread(make_room, keeping)
            path = keeping.path(self._target, self._clock.now(), own=True)
            self._own = _Running(await self._open(path, min(keeping.most, keeping.total)))

    async def _open(self, path: Path, most: int | None = None) -> Writer:
        attempt = self._picture.state.attempt
        header = {"host": self._target, "engine": attempt.engine or "", "version": attempt.version or ""}
        size = most if most is not None else _ENDLESS
        return await asyncio.to_thread(self._reel.open, path, header, size, self._clock.now())

    def _tell(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._picture.apply([ChannelClosed(at=self._clock.now(), channel="recording", why=sentence)])
