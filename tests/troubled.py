"""This machine as a host on which things go wrong when a test says so."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from bringup.hosts.base import ByteStream, Completed, Host, OpenFile, Stream
from bringup.hosts.greeting import SCRIPT
from bringup.hosts.local import LocalHost
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target

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


@asynccontextmanager
async def watching(host: Host, knowledge: Knowledge, **target: object) -> AsyncIterator[Session]:
    """Watch what runs below this test on a host, as far as `target` narrows it down."""

    async def connect() -> Host:
        return host

    narrowed = Target(**{"name": "box", "within": os.getpid(), **target})  # type: ignore[arg-type]
    session = Session(connect, narrowed, knowledge)
    await session.open()
    try:
        yield session
    finally:
        await session.close()


def kind_of(script: str) -> str:
    """Say what a script is run for."""
    if script == SCRIPT:
        return "greet"
    if "words missing" in script:
        return "find-log"
    return "search" if "echo hidden" in script else "other"
