"""Where a server begins that was launched from here: what stands before that in its logs is not judged for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from waiting import eventually

from bringup.core.assess import assess
from bringup.core.events import ActionStep, LogBegan, LogTarget, Server, ServerFound, ServerGone
from bringup.core.verdict import Verdict
from bringup.engines.patience import load_policy
from bringup.hosts.control import Begin
from bringup.hosts.local import LocalHost
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture

PATIENCE = 60.0
WORDS = b"""server_args=ServerArgs(model_path='/models/tiny', tp_size=2, port=30000)
Load weight begin. avail mem=78.62 GB
"""
LAST = b"""Traceback (most recent call last):
  File "scheduler.py", line 9, in init
RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.
"""
READY = b"The server is fired up and ready to roll!\n"


class Watch:
    """A log of a server that is replaced by another one."""

    def __init__(self, knowledge: Knowledge, log: Path) -> None:
        self.log = log
        self.picture = Picture("box")
        self.logs = Logs(self.picture, knowledge, HostClock())
        self.task: asyncio.Task[None] | None = None

    def server(self, pid: int) -> Server:
        logs = (LogTarget(str(self.log), "file"),)
        began = time.time() - 60 + pid
        return Server(pid=pid, start=pid, engine="sglang", argv=("python3",), tp=2, logs=logs, started_at=began)

    def step(self, name: str = "", *, ended: bool = False) -> None:
        self.picture.apply([ActionStep(at=time.time(), action="restart", step=name or "Done.", ended=ended, name=name)])

    def launched(self, pid: int, begin: Begin) -> None:
        """What the finder does once a launch is done."""
        now = time.time()
        self.step(ended=True)
        self.logs.beginnings.launched([begin])
        self.picture.apply([ServerFound(at=now, server=self.server(pid)), LogBegan(at=now)])

    def add(self, data: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(data)

    def verdict(self) -> Verdict:
        return assess(self.picture.state, time.time(), load_policy())

    @asynccontextmanager
    async def of(self, pid: int) -> AsyncIterator[None]:
        """Follow the log of a server, and that of no other one any more, as the finder does."""
        server = self.server(pid)
        if self.task is not None:
            self.task.cancel()
        self.task = task = asyncio.create_task(self.logs.follow(LocalHost(), server.logs, server))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def shows(self, text: bytes) -> None:
        lines = text.splitlines()

        def all_of_it() -> bool:
            return [line for line in self.picture.recent if not line.startswith(b"--- bringup")] == lines

        await eventually(all_of_it, PATIENCE)


@pytest.fixture
async def watch(knowledge: Knowledge, tmp_path: Path) -> AsyncIterator[Watch]:
    """A server whose log was read, which is launched again now; its last words have not been read yet."""
    made = Watch(knowledge, tmp_path / "server.log")
    made.add(WORDS)
    made.picture.apply([ServerFound(at=time.time(), server=made.server(7))])
    async with made.of(7):
        await made.shows(WORDS)
        made.step("launching")
        made.add(LAST)
        yield made


async def test_nothing_is_taken_in_while_it_is_launched(watch: Watch) -> None:
    follower = watch.logs._open[str(watch.log)]
    assert follower is not None
    await eventually(lambda: follower.position.offset > len(WORDS), PATIENCE)  # type: ignore[union-attr]
    assert not watch.logs.is_level
    await watch.shows(WORDS)
    watch.step(ended=True)
    await watch.shows(WORDS + LAST)


async def test_a_log_that_was_put_aside_and_begins_with_the_same_bytes(watch: Watch) -> None:
    """The new file looks as if the old one had only grown: where it begins is known from its launch."""
    aside = watch.log.rename(f"{watch.log}.20261130-041122")
    watch.add(WORDS + LAST + READY)
    watch.launched(8, Begin(str(watch.log), str(aside)))
    assert (watch.verdict().state, watch.verdict().phase) == ("starting", "launch")
    async with watch.of(8):
        await watch.shows(WORDS + LAST + WORDS + LAST + READY)
        assert watch.picture.state.attempt.number == 2
        assert [name for name, _ in watch.picture.state.attempt.reached] == ["ready"]
        assert len(watch.picture.state.attempt.faults) == 1
        assert all(at > time.time() - 600 for _, at in watch.picture.state.attempt.reached)


@pytest.mark.parametrize("text", [WORDS, b""])
async def test_a_log_that_is_appended_to(watch: Watch, text: bytes) -> None:
    before = watch.log.read_bytes()
    watch.add(text + READY)
    watch.launched(8, Begin(str(watch.log), "", len(before), before[-64:]))
    async with watch.of(8):
        await watch.shows(before + text + READY)
        attempt = watch.picture.state.attempt
        assert (attempt.number, attempt.faults, [name for name, _ in attempt.reached]) == (2, (), ["ready"])


async def test_one_that_was_put_aside_before_it_had_been_read(watch: Watch) -> None:
    """A launch that failed has a log of its own, which was put aside in its turn."""
    watch.log.rename(f"{watch.log}.20261130-041122")
    watch.add(READY)
    aside = watch.log.rename(f"{watch.log}.20261130-041123")
    watch.add(WORDS)
    watch.launched(8, Begin(str(watch.log), str(aside)))
    async with watch.of(8):
        await watch.shows(WORDS + LAST + READY + WORDS)
        attempt = watch.picture.state.attempt
        assert (attempt.number, attempt.faults, attempt.reached) == (2, (), ())
        assert not attempt.warnings


async def test_what_was_put_aside_and_is_gone_is_missed(watch: Watch) -> None:
    watch.log.unlink()
    watch.add(READY)
    watch.launched(8, Begin(str(watch.log), f"{watch.log}.1"))
    async with watch.of(8):
        await watch.shows(WORDS + READY)
        assert [kind for kind, _ in watch.picture.state.attempt.warnings] == ["log-gap"]


async def test_what_begins_after_the_end_waits_for_the_next_server(watch: Watch) -> None:
    """Somebody else launches it: nothing tells so but that the log begins anew."""
    watch.step(ended=True)
    await watch.shows(WORDS + LAST)
    watch.picture.apply([ServerGone(at=time.time() + 3600, pid=7)])
    watch.log.rename(f"{watch.log}.1")
    watch.add(WORDS[:40] + b"\n" + READY)
    follower = watch.logs._open[str(watch.log)]
    await eventually(lambda: follower.position.offset == 0, PATIENCE)  # type: ignore[union-attr]
    await watch.shows(WORDS + LAST)
    watch.picture.apply([ServerFound(at=time.time(), server=watch.server(8))])
    async with watch.of(8):
        await watch.shows(WORDS + LAST + WORDS[:40] + b"\n" + READY)
        assert (watch.picture.state.attempt.number, len(watch.picture.state.attempt.reached)) == (2, 1)
