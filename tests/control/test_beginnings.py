"""Where a configured launch begins in a log that is appended to: written down for whoever watches it later."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from engineserver import Place
from placedhost import Placed
from waiting import alive, eventually

from bringup.core.assess import assess
from bringup.core.events import Server, ServerFound
from bringup.core.verdict import Verdict
from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.hosts.control import Beginning, LaunchCommand, begins_in, find_beginning, launch
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture

pytestmark = pytest.mark.long
PATIENCE = 60.0
IMPORT = b"""Traceback (most recent call last):
  File "/opt/sglang/launch_server.py", line 9, in <module>
    from sglang.srt.entrypoints.http_server import launch_server
ModuleNotFoundError: No module named 'sgl_kernel'
"""


class Watch:
    """A console that comes to a server."""

    def __init__(self) -> None:
        self.picture = Picture("box")
        self.logs = Logs(self.picture, Knowledge(load_engines(), load_wrappers(), load_policy()), HostClock())

    def verdict(self) -> Verdict:
        return assess(self.picture.state, time.time(), load_policy())

    @asynccontextmanager
    async def of(self, host: Placed, server: Server) -> AsyncIterator[None]:
        self.picture.apply([ServerFound(at=time.time(), server=server)])
        task = asyncio.create_task(self.logs.follow(host, server.logs, server))
        try:
            await eventually(lambda: bool(self.picture.recent) and self.logs.is_level, PATIENCE)
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def command(place: Place, text: str = "") -> LaunchCommand:
    text = text or f"exec {place.line()}"
    return LaunchCommand(text, cwd=str(place.folder), env=place.environ, log=str(place.log))


async def launched(host: Placed, place: Place, text: str = "") -> Server:
    """Launch onto the log, and come when the server has printed something."""
    await launch(host, "kimi", command(place, text), watch=1)
    return await place.see(host, await place.one(), within=None)


async def test_a_failure_from_before_the_launch_is_none_of_its(host: Placed, place: Place) -> None:
    place.log.write_bytes(IMPORT)
    server = await launched(host, place)
    assert place.log.read_bytes() == IMPORT + b"a server starts\n"
    assert await find_beginning(host, server) == Beginning(len(IMPORT), IMPORT[-64:])
    watch = Watch()
    async with watch.of(host, server):
        assert watch.verdict().state == "starting"
        assert [past.kind for past in watch.picture.state.earlier] == ["import"]
        with place.log.open("ab") as log:
            log.write(IMPORT)
        await eventually(lambda: watch.verdict().state == "failed", PATIENCE)
    # Whoever comes then sees it fail, too.
    late = Watch()
    async with late.of(host, server):
        assert late.verdict().state == "failed"
        assert len(late.picture.state.earlier) == 1


async def test_a_server_below_what_was_launched(local: Placed, place: Place) -> None:
    place.log.write_bytes(IMPORT)
    server = await launched(local, place, f"echo begins; {place.line()}; echo over")
    watch = Watch()
    async with watch.of(local, server):
        assert watch.verdict().state == "starting"


async def test_a_log_that_was_truncated_since_begins_nowhere(local: Placed, place: Place) -> None:
    place.log.write_bytes(IMPORT)
    server = await launched(local, place)
    place.log.write_bytes(b"its own words, far longer than what stood there at the launch\n" * 9 + IMPORT)
    beginning = await find_beginning(local, server)
    assert beginning is not None
    assert not await begins_in(local, str(place.log), beginning)
    watch = Watch()
    async with watch.of(local, server):
        assert watch.verdict().state == "failed"


async def test_what_was_not_launched_from_here(local: Placed, place: Place) -> None:
    place.log.write_bytes(IMPORT)
    first = await launched(local, place)
    os.kill(first.pid, signal.SIGKILL)
    await eventually(lambda: not alive(first.pid), PATIENCE)
    place.start(*place.command(), append=True)
    second = await place.see(local, await place.one(but=[first.pid]))
    assert await find_beginning(local, second) is None


async def test_nothing_is_made_on_a_host_that_is_only_watched(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    assert await find_beginning(local, server) is None
    assert not list((place.folder / "run").iterdir())
