"""This machine as a host on which things go wrong when a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from bringup.hosts.base import ByteStream, Completed, OpenFile, Stream
from bringup.hosts.greeting import SCRIPT
from bringup.hosts.local import LocalHost

Trouble = Callable[[str], Completed | None]
"""Called with what is about to be done ("greet", "find-log", "search", "stream", "open", "connect"): may raise what the
host would raise, or answer in its place."""


def no_trouble(what: str) -> Completed | None:
    return None


class TroubledHost:
    """Everything that is not in trouble is done by this machine; `lose` ends the connection."""

    def __init__(self, trouble: Trouble = no_trouble) -> None:
        self.trouble = trouble
        self.is_closed = False
        self._real = LocalHost("box")
        self._lost = asyncio.Event()

    @property
    def name(self) -> str:
        return "box"

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        instead = self.trouble(kind_of(script))
        return instead or await self._real.run(script, stdin=stdin, timeout=timeout, limit=limit)

    def stream(self, script: str) -> AbstractAsyncContextManager[Stream]:
        self.trouble("stream")
        return self._real.stream(script)

    async def open(self, path: str) -> OpenFile:
        self.trouble("open")
        return await self._real.open(path)

    async def connect(self, host: str, port: int) -> ByteStream:
        self.trouble("connect")
        return await self._real.connect(host, port)

    def lose(self) -> None:
        self._lost.set()

    async def closed(self) -> str:
        await self._lost.wait()
        return "The connection to box was lost: the test cut it."

    async def close(self) -> None:
        self.is_closed = True
        await self._real.close()


def kind_of(script: str) -> str:
    """Say what a script is run for."""
    if script == SCRIPT:
        return "greet"
    if "words missing" in script:
        return "find-log"
    return "search" if "echo hidden" in script else "other"
