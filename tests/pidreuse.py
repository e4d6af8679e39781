"""Run by a test as the only user of a PID namespace: numbers of processes are really used again between two looks.

Prints one line for each way to signal: its name, whether the newcomer lives, and what was said.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engineserver import ENGINES
from fakeserver import start_time

from bringup.core.events import Launcher, Process, Server
from bringup.hosts.control import Hurry, Orphan, Pace, clear, processes, stop, survey, with_stop_command
from bringup.hosts.local import LocalHost

LAST = Path("/proc/sys/kernel/ns_last_pid")
RANK = "sglang::scheduler_TP0"
HOST = LocalHost("box")


def start(**more: object) -> subprocess.Popen[bytes]:
    """Start a process that looks like a rank."""
    return subprocess.Popen([RANK, "600"], executable="/bin/sleep", **more)  # type: ignore[call-overload, no-any-return]


def use_again(old: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """End a process and start one that looks the same and has its number."""
    began = start_time(old.pid)
    old.kill()
    old.wait()
    for _ in range(100):
        # A start time has the grain of a clock tick.
        time.sleep(0.03)
        LAST.write_text(str(old.pid - 1))
        new = start(start_new_session=True)
        if new.pid == old.pid:
            assert start_time(new.pid) != began
            return new
        new.kill()
        new.wait()
    raise AssertionError("the number could not be had again")


def server_of(process: subprocess.Popen[bytes], **more: object) -> Server:
    start_at = start_time(process.pid)
    return Server(pid=process.pid, start=start_at, engine="vllm", argv=(RANK, "600"), **more)  # type: ignore[arg-type]


class Turns:
    """A clock that moves with each pause, in the first of which something is done."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act: Callable[[], object] | None = act
        self._now = 0.0

    async def sleep(self, seconds: float) -> None:
        if self._act is not None:
            act, self._act = self._act, None
            act()
        self._now += 1.5

    def clock(self) -> float:
        return self._now


def told(name: str, new: subprocess.Popen[bytes], said: str) -> None:
    print(f"{name}: {'lives' if new.poll() is None else 'ENDED'}: {said}", flush=True)
    new.kill()
    new.wait()


async def before_the_stop(way: str, **more: object) -> None:
    """Between the question and the first signal."""
    old = start(start_new_session=True)
    server = server_of(old)
    plan = await survey(HOST, with_stop_command(server, f"kill -KILL {old.pid}") if way == "OWN" else server)
    new = use_again(old)
    pace = Pace(drain=0.0, respawn=0.0, **more)  # type: ignore[arg-type]
    came = await stop(HOST, plan, signal=way, pace=pace, report=lambda _: None, is_engine=lambda _: True)  # type: ignore[arg-type]
    told(f"{way} {' '.join(more)}".strip(), new, came.sentence)


async def during_the_drain(name: str, *, hurry: bool) -> None:
    """A worker ends while the launcher, which is deaf, is waited for; a newcomer has its number when SIGKILL is due."""
    launcher = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"], start_new_session=True)
    worker = start()
    server = replace(server_of(launcher), launcher=Launcher(respawns=False))
    (row,) = (await processes.list_processes(HOST, [worker.pid])).values()
    (member,) = await processes.describe(HOST, [row])
    plan = await survey(HOST, server, (member,))
    assert worker.pid in {each.pid for each in plan.members}
    asked, new = Hurry(), []

    def act() -> None:
        new.append(use_again(worker))
        if hurry:
            asked.now()

    turns = Turns(act)
    pace = Pace(drain=900.0 if hurry else 4.0, hurry=asked, sleep=turns.sleep, clock=turns.clock, respawn=0.0)
    came = await stop(HOST, plan, pace=pace, report=lambda _: None, is_engine=lambda _: True)
    assert launcher.poll() is not None
    told(name, new[0], came.sentence)


async def an_orphan() -> None:
    """Between the list of orphans and their clearing."""
    old = start(start_new_session=True)
    (row,) = (await processes.list_processes(HOST, [old.pid])).values()
    (process,) = await processes.describe(HOST, [row])
    new = use_again(old)
    came = await clear(HOST, [Orphan(process, "sglang")], ENGINES, lambda _: None, pace=Pace(drain=0.0))
    told("orphan", new, came.sentence)


async def at_the_kill() -> None:
    """A member whose number is another's by now."""
    old = start(start_new_session=True)
    forged = Process(pid=old.pid, ppid=1, start=start_time(old.pid), title=RANK, pgid=old.pid, sid=old.pid)
    new = use_again(old)
    fates, started = await processes.kill(HOST, [forged])
    told("kill", new, f"{fates.get(old.pid)} {len(started)}")


async def main() -> None:
    for way in ("TERM", "INT", "KILL", "OWN"):
        await before_the_stop(way)
    await before_the_stop("TERM", kills=False)
    await during_the_drain("drain", hurry=False)
    await during_the_drain("hurry", hurry=True)
    await an_orphan()
    await at_the_kill()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
