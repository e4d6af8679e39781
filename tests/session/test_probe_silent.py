"""A probe that sends no samples any more is started again, whatever else it still sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from timeline import ROOT, Timeline
from waiting import eventually

from bringup.core.events import Server
from bringup.hosts.base import Completed
from bringup.hosts.local import LocalHost
from bringup.session import server_watch
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.server_watch import Channels, ServerWatch


class Chatter:
    """A probe that goes on to send what is no sample."""

    def __init__(self) -> None:
        self.sent = 0

    async def read(self, size: int = 65536) -> bytes:
        await asyncio.sleep(0.01)
        self.sent += 1
        return b"?\n"

    async def status(self) -> Completed:
        return Completed(0, b"", b"")


class Frozen(LocalHost):
    """A host whose sampler is frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.streams: list[Chatter] = []

    @asynccontextmanager
    async def stream(self, script: str) -> AsyncIterator[Chatter]:  # type: ignore[override]
        self.streams.append(Chatter())
        yield self.streams[-1]


async def test_a_probe_without_samples_is_closed_and_started_again(
    monkeypatch: pytest.MonkeyPatch, knowledge: Knowledge
) -> None:
    monkeypatch.setattr(server_watch, "SILENT", 0.1)
    monkeypatch.setattr(server_watch, "AGAIN", 0.01)
    line, host, knowledge = Timeline().found().launch(tp=2).spawn(2), Frozen(), knowledge
    clock = HostClock(monotonic=lambda: 0.0)
    clock.tell(line.now)
    picture = Picture("box")
    picture.state = line.state
    logs = Logs(picture, knowledge, clock)
    server = Server(pid=ROOT, start=1, engine="sglang", argv=())
    watch = ServerWatch(host, server, (), Channels(picture, clock, logs, knowledge), lambda: None)
    task = asyncio.create_task(watch._probe())
    try:
        await eventually(lambda: len(host.streams) >= 3)
        assert host.streams[0].sent > 1
        assert dict(picture.state.closed)["processes"].startswith("The probe sent no sample for")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
