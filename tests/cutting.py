"""A restart that is cut at any moment, for every kind of launcher; and what must be true and said afterwards."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from engineserver import Place, make_docker
from leftopen import unfinished
from waiting import eventually

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control import (
    LaunchCommand,
    LeftToAnother,
    Pace,
    Started,
    Step,
    Unfinished,
    claim,
    discard,
    restart,
    resume,
    survey,
)

LONG = 60.0
"""Seconds within which anything happens, also on a loaded machine."""


def silent(_: Step) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Kind:
    """A way in which a server is started and restarted."""

    name: str
    start: Callable[[Place], None]
    within: bool = True
    """The server is below the test, which is not what launched it."""
    edited: tuple[str, ...] = ()
    """What the command of the restart has in addition."""
    configured: bool = False
    """The restart launches a configured command."""
    pace: Pace = field(default_factory=lambda: Pace(drain=20.0))
    returns: bool = False
    """What stands above it starts it again."""


def plain(place: Place) -> None:
    place.start(*place.command())


def deaf(place: Place) -> None:
    place.start(*place.command("--deaf", "--child"))


def loop(place: Place) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\nsleep 0.2\ndone\n")
    place.start("bash", "run.sh")


def late_loop(place: Place) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\nsleep 3\ndone\n")
    place.start("bash", "run.sh")


def container(place: Place) -> None:
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))


def pane(place: Place) -> None:
    tmux = ("tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null")
    place.start(*tmux, "new-session", "-d", "-s", "llm", "-c", str(place.folder), "bash", "--norc")
    typed = [*tmux, "send-keys", "-t", "llm", place.line(), "Enter"]
    deadline = time.monotonic() + LONG
    while subprocess.run(typed, capture_output=True, check=False).returncode != 0:
        assert time.monotonic() < deadline, "there is no pane"
        time.sleep(0.05)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("plain", plain),
        Kind("deaf", deaf, pace=Pace(drain=0.3)),
        Kind("loop", loop, returns=True),
        Kind("late", late_loop, returns=True, pace=Pace(drain=20.0, respawn=0.2)),
        Kind("container", container, within=False),
        Kind("pane", pane, within=False),
        Kind("edited", plain, edited=("--seed", "7 8")),
        Kind("configured", plain, configured=True),
    )
}


async def see(kind: Kind, place: Place, host: Host) -> Server:
    """Start a server of a kind, and return it as discovery finds it."""
    kind.start(place)
    await eventually(lambda: bool(servers(place)), LONG)
    (pid,) = servers(place)
    return await place.see(host, pid) if kind.within else await place.see(host, pid, within=None)


def servers(place: Place) -> list[int]:
    """PIDs of the servers that run, without their own children."""
    running = place.running()
    return [pid for pid in running if parent(pid) not in running]


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


async def only(place: Place) -> int:
    """Wait until one server runs."""
    await eventually(lambda: len(servers(place)) == 1, LONG)
    return servers(place)[0]


async def again(kind: Kind, place: Place, host: Host, server: Server) -> Started:
    """A restart as a console does it."""
    claimed = await claim(host, server, "restart", token="ours", who="ann@laptop")
    plan = await survey(host, server)
    command = LaunchCommand(f"exec {place.line()}", str(place.folder), place.environ, str(place.log), "kimi")
    return await restart(
        host,
        plan,
        claimed,
        report=silent,
        argv=[*server.argv, *kind.edited] if kind.edited else None,
        command=command if kind.configured else None,
        pace=kind.pace,
        watch=0,
    )


async def rest(host: Host, place: Place) -> Unfinished | None:
    """Return what is said, once it fits what runs: what was begun goes on without anybody, and between two looks."""
    deadline = time.monotonic() + LONG
    while True:
        before = servers(place)
        assert len(before) < 2, f"there are two servers: {before}"
        left = await unfinished(host, token="ours")
        if before == servers(place) and fits(left, before):
            return left
        assert time.monotonic() < deadline, f"{left.sentence if left else 'nothing is said'}, and these run: {before}"
        await asyncio.sleep(0.05)


def fits(left: Unfinished | None, running: list[int]) -> bool:
    """What is said is what is, and nothing goes on any more."""
    if left is None:
        return len(running) == 1
    if left.busy:
        return False
    if left.new_alive and left.new is not None:
        return running == [left.new[0]] and "the new server runs as PID" in left.sentence
    if left.alive:
        return running == [left.server[0]] and "the old server still runs" in left.sentence
    return running == [] and ("no server runs" in left.sentence or "was not written down" in left.sentence)


async def settled(host: Host, place: Place) -> str:
    """After a reconnect: what is said fits what runs, and leads to one server; return what was said."""
    left = await rest(host, place)
    if left is None:
        # A folder whose making or removal was cut off lies there for an hour, with nothing in it that matters.
        assert not [folder for folder in place.kept() if (folder / "claim").exists()]
        assert place.secrets() == []
        return ""
    said, old = left.sentence, left.server
    if "launch" in left.can:
        assert not left.alive
        await go_on(host, place, left)
    else:
        assert left.can == ("discard",)
        assert left.new_alive or left.server in left.alive
    left = await unfinished(host, token="ours")
    if left is not None:
        assert left.new_alive or left.alive, left.sentence
        await discard(host, left)
    running = [await only(place)]
    assert "old server still runs" not in said or running == [old[0]]
    assert place.kept() == []
    return said


async def go_on(host: Host, place: Place, left: Unfinished) -> None:
    """Launch it again; what starts it by itself is waited for."""
    try:
        started = await resume(host, left, report=silent, pace=Pace(drain=20.0), watch=0)
    except LeftToAnother:
        await eventually(lambda: bool(place.running()), LONG)
        return
    assert await only(place) == started.pid
    with pytest.raises(BringupError):
        await resume(host, left, report=silent, watch=0)
