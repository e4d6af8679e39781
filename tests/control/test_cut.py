"""The connection is cut at every moment of a restart: never two servers, never none without saying so."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from engineserver import Place
from placedhost import CutAt, Placed
from sshd import Sshd
from waiting import alive, eventually

from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control import Pace, Step, claim, discard, restart, resume, stop, survey, unfinished
from bringup.hosts.local import LocalHost
from bringup.hosts.ssh import SshHost


def silent(_: Step) -> None:
    """Tell nobody."""


async def run(host: Host, server: Server, report: Callable[[Step], None] = silent) -> None:
    """A restart as a console does it."""
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    await restart(host, plan, claimed, report=report, pace=Pace(drain=5.0), watch=0)


async def settled(host: Host, place: Place, old: int) -> str:
    """After a reconnect: what is said fits what runs, and leads to one server; return what was said."""
    left = await unfinished(host, token="ours")
    if left is not None and left.step in ("stopping", "killing"):
        # What was asked to end does so without anybody watching.
        await eventually(lambda: not place.running() or old in place.running())
        left = await unfinished(host, token="ours")
    running = place.running()
    assert len(running) < 2
    if left is None:
        # Nothing was begun, or all of it was done.
        await eventually(lambda: len(place.running()) == 1)
        assert place.secrets() == []
        return ""
    assert not left.busy
    if left.new_alive:
        assert left.new is not None
        assert await place.one() == left.new[0]
        assert "the new server runs as PID" in left.sentence
    elif left.alive:
        assert running == [old]
        assert "the old server still runs" in left.sentence
        assert left.can == ("discard",)
    else:
        assert running == []
        assert "no server runs" in left.sentence
        assert left.can == ("launch", "discard")
        started = await resume(host, left, report=lambda _: None, watch=0)
        assert await place.one() == started.pid
        with pytest.raises(BringupError):
            await resume(host, left, report=lambda _: None, watch=0)
    await discard(host, left)
    await eventually(lambda: len(place.running()) == 1)
    assert (place.kept(), place.secrets()) == ([], [])
    return left.sentence


@pytest.fixture
def lookalike(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """A process with the very same command line that is nobody's here."""
    words = place.command()[1:]
    made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", *words], start_new_session=True)
    yield made
    assert made.poll() is None, "a bystander was signalled"
    made.kill()
    made.wait()


@pytest.mark.parametrize("after", [False, True], ids=["before the command", "after the command"])
async def test_at_every_command(place: Place, after: bool, lookalike: subprocess.Popen[bytes]) -> None:
    said: list[str] = []
    at, whole = 0, False
    while not whole:
        known = place.running()
        if not known:
            place.start(*place.command())
        pid = await place.one()
        local = Placed(LocalHost("box"), place.environ)
        server = await place.see(local, pid, within=None if known else os.getpid())
        cut = CutAt(LocalHost("box"), place.environ, at, after=after)
        try:
            await run(cut, server_alone(server))
            whole = len(cut.scripts) <= at
        except ConnectionLost:
            assert len(cut.scripts) == at + 1
        said.append(await settled(local, place, pid))
        at += 1
    heard = " ".join(said)
    for words in (
        "before anything was done",
        "while it was asked to end",
        "the old server still runs",
        "no server runs",
    ):
        assert words in heard
    assert at > 8
    assert alive(lookalike.pid)


async def end(host: Host, server: Server) -> None:
    """A stop as a console does it."""
    claimed = await claim(host, server, "stop", token="ours")
    await stop(host, await survey(host, server), report=silent, claimed=claimed)


def server_alone(server: Server) -> Server:
    """The test itself, which is above a server that it started, does not start it again."""
    return replace(server, launcher=replace(server.launcher, respawns=False, parent=None, above=()))


class Cutter:
    """Ends the connection for good when the report reaches a step."""

    def __init__(self, sshd: Sshd, at: int) -> None:
        self.sshd = sshd
        self.at = at
        self.steps: list[Step] = []

    def __call__(self, step: Step) -> None:
        if len(self.steps) == self.at:
            self.sshd.cut()
        self.steps.append(step)


async def test_at_every_step_that_is_told(place: Place, real_sshd: Sshd, lookalike: subprocess.Popen[bytes]) -> None:
    """The connection itself is killed, with whatever runs on it at that moment."""
    seen: list[str] = []
    at = 0
    while True:
        if not place.running():
            place.start(*place.command("--deaf"))
        pid = await place.one()
        host = Placed(await SshHost.login("box", options=real_sshd.options()), place.environ)
        server = server_alone(await place.see(host, pid, within=None))
        cutter = Cutter(real_sshd, at)
        whole = True
        try:
            claimed = await claim(host, server, "restart", token="ours")
            plan = await survey(host, server)
            await restart(host, plan, claimed, report=cutter, pace=Pace(drain=0.4), watch=0)
        except ConnectionLost:
            whole = False
        await host.close()
        seen += [step.name for step in cutter.steps[at : at + 1]]
        again = Placed(await SshHost.login("box", options=real_sshd.options()), place.environ)
        await settled(again, place, pid)
        await again.close()
        if whole and len(cutter.steps) <= at:
            break
        at += 1
    assert set(seen) == {"claimed", "stopping", "killing", "launching"}
    assert alive(lookalike.pid)


async def test_in_the_middle_of_the_launch(place: Place, real_sshd: Sshd) -> None:
    """The new server runs, and the script that watches it is ended with the connection."""
    place.start(*place.command())
    pid = await place.one()
    host = Placed(await SshHost.login("box", options=real_sshd.options()), place.environ)
    server = server_alone(await place.see(host, pid))
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    task = asyncio.ensure_future(restart(host, plan, claimed, report=lambda _: None, watch=20))
    await place.one(but=[pid])
    real_sshd.cut()
    with pytest.raises(ConnectionLost):
        await task
    await host.close()
    again = Placed(await SshHost.login("box", options=real_sshd.options()), place.environ)
    sentence = await settled(again, place, pid)
    assert "was cut off" in sentence
    assert "while it was being launched again; the new server runs as PID" in sentence
    await again.close()


async def test_a_supervisor_starts_it_again_while_nobody_watches(place: Place, local: Placed) -> None:
    (place.folder / "run.sh").write_text(f"while :; do\n{place.line()}\ndone\n")
    place.start("bash", "run.sh")
    server = await place.see(local, await place.one())

    def cut(step: Step) -> None:
        if step.text.startswith("SIGTERM"):
            raise ConnectionLost("The connection was cut by the test.")

    claimed = await claim(local, server, "restart", token="ours")
    plan = await survey(local, server)
    with pytest.raises(ConnectionLost):
        await restart(local, plan, claimed, report=cut)
    new = await place.one(but=[server.pid])
    await eventually(lambda: place.running() == [new])
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.new is not None
    assert (left.new[0], left.can) == (new, ("discard",))
    forged = replace(left, new=None, new_alive=False, starters=())
    assert forged.can == ("launch", "discard")
    with pytest.raises(BringupError, match=rf"PID {new} was started there meanwhile with the same command"):
        await resume(local, forged, report=silent)
    assert place.running() == [new]


async def test_a_stop_that_is_cut(place: Place, local: Placed) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    for at in range(3, 8):
        if not place.running():
            place.start(*place.command())
        server = await place.see(local, await place.one())
        cut = CutAt(LocalHost("box"), place.environ, at, after=True)
        with pytest.raises(ConnectionLost):
            await end(cut, server)
        await eventually(lambda at=at: at < 6 or not place.running())
        left = await unfinished(local, token="ours")
        assert left is not None
        assert left.action == "stop"
        assert left.can == ("discard",)
        assert ("still runs" in left.sentence) == bool(place.running())
        await discard(local, left)
