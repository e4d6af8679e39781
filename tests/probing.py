"""A probe that runs, and waiting for what it tells."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from bringup.core.events import Event, PortSeen, Process, ProcessesSeen, ServerGone
from bringup.hosts.base import Host, Stream
from bringup.hosts.probe import ProbeDecoder, script

PATIENCE = 60.0
Kind = TypeVar("Kind", bound=Event)


class Probe:
    """The events of a running probe."""

    def __init__(self, stream: Stream, decoder: ProbeDecoder) -> None:
        self._stream = stream
        self.decoder = decoder
        self._waiting: list[Event] = []

    async def event(self, kind: type[Kind], condition: Callable[[Kind], bool] = lambda event: True) -> Kind:
        """Return the next event of a kind for which a condition holds; those before it are dropped."""
        async with asyncio.timeout(PATIENCE):
            while True:
                while self._waiting:
                    event = self._waiting.pop(0)
                    if isinstance(event, kind) and condition(event):
                        return event
                await self._read()

    async def until(self, condition: Callable[[dict[int, Process]], bool]) -> dict[int, Process]:
        """Return the next sample for which a condition holds, by PID."""
        seen = await self.event(ProcessesSeen, lambda event: condition({known.pid: known for known in event.processes}))
        return {known.pid: known for known in seen.processes}

    async def gone(self) -> ServerGone:
        """Wait for the end of the launcher."""
        return await self.event(ServerGone)

    async def port(self, condition: Callable[[PortSeen], bool]) -> PortSeen:
        """Wait for a listener."""
        return await self.event(PortSeen, condition)

    async def until_candidates(self, condition: Callable[[frozenset[int]], bool]) -> None:
        """Wait until a look for servers was made whose candidates fulfil a condition."""
        before = self.decoder.now
        async with asyncio.timeout(PATIENCE):
            while self.decoder.now == before or not condition(self.decoder.candidates):
                await self._read()

    async def _read(self) -> None:
        data = await self._stream.read()
        assert data, (await self._stream.status()).stderr.decode()
        self._waiting += self.decoder.feed(data)


@asynccontextmanager
async def probing(
    host: Host, root: int | None, *, shell: str = "sh", path: Path | None = None, **options: Any
) -> AsyncIterator[Probe]:
    """Run the probe under a shell, with a folder before the others on its PATH."""
    text = f"exec {shell} -c {shlex.quote(script(root, **options))}"
    if path is not None:
        text = f"PATH={shlex.quote(str(path))}:$PATH\nexport PATH\n{text}"
    async with host.stream(text) as stream:
        yield Probe(stream, ProbeDecoder(root))
