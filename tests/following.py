"""Driving a follower look by look: it sleeps until the test lets it look again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from bringup.core.events import LogMoved
from bringup.hosts.base import Host
from bringup.hosts.follow import Chunk, Follower, Position

PATIENCE = 60.0
OLD = b"".join(b"[old %06d] loading\n" % number for number in range(1000))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log that has lines already, under a name with a blank."""
    file = tmp_path / "server log.txt"
    file.write_bytes(OLD)
    return file


def append(path: Path, data: bytes) -> None:
    """Write on, as the server does."""
    with path.open("ab") as writer:
        writer.write(data)


class Following:
    """A running follower, what it handed out, and its clock."""

    def __init__(
        self, host: Host, path: object, start: int | Literal["tail"] | Position = 0, max_read: int = 65536
    ) -> None:
        self.now = 1000.0
        self.follower = Follower(
            host, str(path), start=start, max_read=max_read, sleep=self._sleep, clock=lambda: self.now
        )
        self.chunks: list[Chunk] = []
        self.moves: list[str] = []
        self.turns: list[LogMoved] = []
        self.logs: list[bytes] = [b""]
        """The bytes of each log, one after the other."""
        self.pauses: list[float] = []
        self._may = asyncio.Semaphore(0)
        self._rests = asyncio.Semaphore(0)
        self._task = asyncio.create_task(self._run())

    async def looks(self, times: int = 1) -> None:
        """Let the follower go on until it has gone to sleep this many times more."""
        for _ in range(times):
            self._may.release()
            await self.rests()

    async def rests(self) -> None:
        """Wait until the follower sleeps; raise what ended it."""
        resting = asyncio.create_task(self._rests.acquire())
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait((resting, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not resting.done():
            resting.cancel()
            self._task.result()

    async def stop(self) -> None:
        """End the follower."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _sleep(self, seconds: float) -> None:
        if seconds:
            self.pauses.append(seconds)
            self._rests.release()
            await self._may.acquire()

    async def _run(self) -> None:
        async with contextlib.aclosing(self.follower.items()) as items:
            async for item in items:
                if isinstance(item, LogMoved):
                    self.moves.append(item.how)
                    self.turns.append(item)
                    continue
                if item.offset == 0 and self.logs[-1]:
                    self.logs.append(b"")
                if item.offset and self.chunks:
                    assert item.offset == self.chunks[-1].offset + len(self.chunks[-1].data)
                self.chunks.append(item)
                self.logs[-1] += item.data


@contextlib.asynccontextmanager
async def following(
    host: Host, path: object, start: int | Literal["tail"] | Position = 0, max_read: int = 65536
) -> AsyncIterator[Following]:
    """Follow a file and have come to its end."""
    made = Following(host, path, start, max_read)
    try:
        await made.rests()
        yield made
    finally:
        await made.stop()
