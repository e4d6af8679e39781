"""When the disk of the log is asked about, and what is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogWritten
from bringup.hosts.base import Completed
from bringup.session import room_watch
from bringup.session.clock import HostClock
from bringup.session.picture import Picture
from bringup.session.room_watch import RoomWatch


class Box:
    """A host whose disk has so much room; None where it cannot tell."""

    name = "box"

    def __init__(self, free: int | None) -> None:
        self.free = free
        self.asked = 0

    async def run(self, script: str, **_: object) -> Completed:
        self.asked += 1
        if self.free is None:
            raise ChannelRefused("There is no session left.")
        return Completed(0, b"%d 1000000 /var/my log\n" % self.free, b"")


class Watched:
    def __init__(self, free: int | None) -> None:
        self.now = 1000.0
        self.box = Box(free)
        self.picture = Picture("box")
        clock = HostClock(monotonic=lambda: self.now, wall=lambda: self.now)
        self.task = asyncio.create_task(RoomWatch(self.box, ["/a"], self.picture, clock).run())  # type: ignore[arg-type]

    async def until(self, holds: Callable[[], bool]) -> None:
        await eventually(holds)

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_watch, "LOOK", 0.001)


async def test_a_disk_that_fills_and_empties_is_told_where_it_happened() -> None:
    it = Watched(1 << 30)
    await it.until(lambda: it.box.asked == 1)
    it.box.free = 0
    it.now += room_watch.CALM + 1
    await it.until(lambda: it.picture.state.log.full == "/var/my log")
    it.box.free = 1 << 30
    it.now += room_watch.AGAIN + 1
    await it.until(lambda: it.picture.state.log.full == "")
    told = it.picture.take_lines()
    assert [b"is full; what is written to the log now is lost" in line for line in told] == [True, False]
    assert b"the disk of /var/my log has room again" in told[1]
    await it.end()


async def test_a_log_that_falls_silent_is_a_reason_to_ask() -> None:
    it = Watched(1 << 30)
    await it.until(lambda: it.box.asked == 1)
    it.now += 10
    it.picture.apply([LogWritten(at=it.now)])
    it.now += room_watch.SILENT + 1
    await it.until(lambda: it.box.asked == 2)
    it.now += room_watch.AGAIN + 1
    await asyncio.sleep(0.05)
    assert it.box.asked == 2, "it stays silent: that is asked about once, then now and then"
    it.now += room_watch.CALM
    await it.until(lambda: it.box.asked == 3)
    await it.end()


async def test_a_host_that_cannot_tell_is_asked_once() -> None:
    it = Watched(None)
    await asyncio.wait_for(it.task, 10)
    assert it.box.asked == 1
    assert it.picture.take_lines() == []
