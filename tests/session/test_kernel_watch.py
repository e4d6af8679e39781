"""The kernel log is asked when something went without a word: at once, then now and then, and never for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from timeline import ROOT, Timeline, loading
from waiting import eventually

from bringup.core.errors import ConnectionLost
from bringup.core.events import Server
from bringup.hosts.base import Completed
from bringup.hosts.local import LocalHost
from bringup.session import kernel_watch
from bringup.session.clock import HostClock
from bringup.session.kernel_watch import KernelWatch
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.server_watch import Channels

SERVER = Server(pid=ROOT, start=1, engine="sglang", argv=())
OOM = f"Out of memory: Killed process {ROOT + 2} (python3) total-vm:8kB"


class Kernel(LocalHost):
    """A host that answers every question with the same words, and counts them."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__()
        self.answer = Completed(status, text.encode(), b"")
        self.scripts: list[str] = []
        self.lost = False

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        self.scripts.append(script)
        if self.lost:
            raise ConnectionLost("gone")
        return self.answer


class Scene:
    """A watch of a server at a moment of a start."""

    def __init__(self, line: Timeline, host: Kernel, knowledge: Knowledge) -> None:
        clock = HostClock(monotonic=lambda: 0.0)
        clock.tell(line.now)
        self.host = host
        self.picture = Picture("box")
        self.picture.state = line.state
        channels = Channels(self.picture, clock, Logs(self.picture, knowledge, clock), knowledge)
        self.watch = KernelWatch(host, SERVER, channels)
        self.clock = clock

    def show(self, line: Timeline) -> None:
        """Let the state be another one."""
        self.clock.tell(line.now)
        self.picture.state = line.state


@asynccontextmanager
async def watching(scene: Scene) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(scene.watch.run())
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_watch, "LOOK", 0.01)


def lost() -> Timeline:
    return loading(2).spawn(2).wait(1).kill(1).sample()


def said(line: Timeline) -> str:
    return f"clock unix\n{line.now - 1:.6f} gpu-a kernel: {OOM}\n"


async def test_a_rank_without_a_word_is_asked_after_and_the_answer_ends_the_questions(knowledge: Knowledge):
    line = lost()
    scene = Scene(line, Kernel(0, said(line)), knowledge)
    async with watching(scene):
        await eventually(lambda: bool(scene.picture.state.kernel))
    assert [found.text for found in scene.picture.state.kernel] == [OOM]
    assert len(scene.host.scripts) == 1


async def test_it_asks_for_processes_that_are_gone_already(knowledge: Knowledge):
    before = loading(2).spawn(2)
    scene = Scene(before, Kernel(0, "clock unix\n"), knowledge)
    async with watching(scene):
        await asyncio.sleep(0)
        scene.show(before.wait(1).kill(1).kill(None).sample())
        await eventually(lambda: bool(scene.host.scripts))
    assert f"{ROOT}|{ROOT + 1}|{ROOT + 2}" in scene.host.scripts[0]


async def test_nobody_asks_while_all_is_well(knowledge: Knowledge):
    scene = Scene(loading(2).spawn(2), Kernel(0), knowledge)
    async with watching(scene):
        for _ in range(5):
            await asyncio.sleep(0.01)
    assert scene.host.scripts == []


async def test_what_was_asked_is_asked_again_later_and_something_new_at_once(knowledge: Knowledge):
    line = lost()
    scene = Scene(line, Kernel(0, "clock unix\n"), knowledge)
    async with watching(scene):
        await eventually(lambda: scene.picture.state.kernel_asked_at is not None)
        for _ in range(5):
            await asyncio.sleep(0.01)
        assert len(scene.host.scripts) == 1
        scene.show(line.wait(2).kill(None).sample())
        await eventually(lambda: len(scene.host.scripts) == 2)


async def test_the_same_question_comes_again(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernel_watch, "AGAIN", 0.001)
    scene = Scene(lost(), Kernel(0, "clock unix\n"), knowledge)
    async with watching(scene):
        await eventually(lambda: len(scene.host.scripts) > 2)


async def test_a_log_that_may_not_be_read_is_a_closed_channel_and_asked_once(knowledge: Knowledge):
    scene = Scene(lost(), Kernel(77), knowledge)
    async with watching(scene) as task:
        await eventually(task.done)
    assert len(scene.host.scripts) == 1
    assert "group adm" in dict(scene.picture.state.closed)["kernel"]


async def test_a_lost_connection_is_passed_on(knowledge: Knowledge):
    scene = Scene(lost(), Kernel(0), knowledge)
    scene.host.lost = True
    with pytest.raises(ConnectionLost):
        await scene.watch.run()
