"""A log too large to be read whole: its end is shown, its last launch is known, and its size and lines are honest."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from loggen import sglang_log
from waiting import eventually

from bringup.core.events import LogTarget, ServerGone
from bringup.hosts import attach
from bringup.hosts.local import LocalHost
from bringup.session import attaching
from bringup.session.attaching import launch_words
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture

START = sglang_log("0.5.9", draft=True)
SERVING = b"[2026-03-02 10:00:%02d TP0] Decode batch, #running-req: 4, #token: 5120, accept len: 2.80, #queue-req: 0\n"
MIDDLE = b"".join(SERVING % (n % 60) for n in range(40_000))
ERROR = b"""[2026-03-02 12:00:00 TP3] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/sglang/srt/managers/scheduler.py", line 1, in run
    self.step()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.

"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attaching, "BIG", 1 << 20)
    monkeypatch.setattr(attach, "TAIL", 200_000)


async def test_a_large_log(small: None, tmp_path: Path, knowledge: Knowledge) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(START + MIDDLE + MIDDLE)
    picture = Picture("box")
    logs = Logs(picture, knowledge, HostClock())
    watch = asyncio.create_task(logs.follow(LocalHost(), [LogTarget(str(log), "file")]))
    await eventually(lambda: picture.state.log.size > 0 and logs.is_level)
    state = picture.state
    assert (state.attempt.number, state.attempt.model, len(state.attempt.ranks)) == (1, "/models/target", 8)
    assert "ready" in dict(state.attempt.reached)
    assert state.attempt.accept_lens[-1] == 2.8
    assert state.log.size == log.stat().st_size
    assert state.log.lines < 10_000
    lines = picture.take_lines()
    assert b"the end of server.log" in lines[0]
    assert any(b"were passed over" in line for line in lines)
    shown = [line for line in lines if not line.startswith(b"---")]
    assert b"\n".join(shown) + b"\n" == MIDDLE[-sum(len(line) + 1 for line in shown) :]

    with log.open("ab") as file:
        file.write(ERROR)
    await eventually(lambda: bool(picture.state.attempt.faults))
    assert picture.state.attempt.faults[0].line == 0
    assert picture.take_lines() == ERROR.split(b"\n")[:-1]
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)


async def test_a_large_log_with_a_hole(tmp_path: Path, knowledge: Knowledge) -> None:
    """`> server.log` under a server that does not append: its old offset is many GB down, and all before are NULs."""
    log, hole = tmp_path / "server.log", 20 << 30
    with log.open("wb") as file:
        file.seek(hole)
        file.write(START)
    picture = Picture("box")
    logs = Logs(picture, knowledge, HostClock())
    watch = asyncio.create_task(logs.follow(LocalHost(), [LogTarget(str(log), "file")]))
    await eventually(lambda: picture.state.log.size > 0 and logs.is_level and len(picture.state.attempt.ranks) == 8)
    state = picture.state
    assert (state.attempt.number, state.attempt.model) == (1, "/models/target")
    assert state.log.size == log.stat().st_size
    with log.open("ab") as file:
        file.write(ERROR)
    await eventually(lambda: bool(picture.state.attempt.faults))
    assert any(b"NUL bytes of server.log are passed over" in line for line in picture.take_lines())
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)


async def test_what_begins_a_launch(knowledge: Knowledge) -> None:
    assert launch_words(knowledge, "sglang") == ("server_args=",)
    assert set(launch_words(knowledge)) >= {"server_args=", *launch_words(knowledge, "vllm")}
    assert len(launch_words(knowledge, "vllm")) > 1


async def test_the_last_words_of_what_has_ended_are_read_first(tmp_path: Path, knowledge: Knowledge) -> None:
    """The process is seen to be gone before the follower, which rests, has looked at the log again."""
    log = tmp_path / "server.log"
    log.write_bytes(START)
    picture, clock = Picture("box"), HostClock()
    logs = Logs(picture, knowledge, clock)
    watch = asyncio.create_task(logs.follow(LocalHost(), [LogTarget(str(log), "file")]))
    await eventually(lambda: picture.state.log.size > 0 and logs.is_level)
    with log.open("ab") as file:
        file.write(ERROR)
    picture.apply([ServerGone(at=clock.now(), pid=1)])
    assert not logs.is_level
    await eventually(lambda: logs.is_level)
    assert picture.state.attempt.faults
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)
