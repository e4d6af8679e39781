"""The connection is cut at every moment of a restart: never two servers, never none without saying so."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from cutting import settled, silent
from engineserver import Place
from leftopen import unfinished
from placedhost import CutAt, LosesTheAnswer, Placed
from sshd import Sshd
from waiting import alive, eventually

from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control import LaunchCommand, Pace, Step, claim, discard, restart, resume, stop, survey
from bringup.hosts.local import LocalHost
from bringup.hosts.ssh import SshHost


async def run(host: Host, server: Server, report: Callable[[Step], None] = silent) -> None:
    """A restart as a console does it."""
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    await restart(host, plan, claimed, report=report, pace=Pace(drain=5.0), watch=0)


@pytest.fixture
def lookalike(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """A process with the very same command line that is nobody's here."""
    words = place.command()[1:]
    made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", *words], start_new_session=True)
    yield made
    assert made.poll() is None, "a bystander was signalled"
    made.kill()
    made.wait()


async def test_before_every_command(place: Place, lookalike: subprocess.Popen[bytes]) -> None:
    """After each of them, and for every kind of launcher, it is cut in test_cut_launchers.py."""
    said: list[str] = []
    at, whole = 0, False
    while not whole:
        known = place.running()
        if not known:
            place.start(*place.command())
        pid = await place.one()
        local = Placed(LocalHost("box"), place.environ)
        server = await place.see(local, pid, within=None if known else os.getpid())
        cut = CutAt(LocalHost("box"), place.environ, at, after=False)
        try:
            await run(cut, server_alone(server))
            whole = len(cut.scripts) <= at
        except ConnectionLost:
            assert len(cut.scripts) == at + 1
        said.append(await settled(local, place))
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
        await settled(again, place)
        await again.close()
        if whole and len(cutter.steps) <= at:
            break
        at += 1
    assert set(seen) == {"claimed", "stopping", "killing", "launching"}
    assert alive(lookalike.pid)


@pytest.mark.parametrize("fate", ["lives", "ends"])
async def test_in_the_middle_of_the_launch(place: Place, real_sshd: Sshd, fate: str) -> None:
    """The script that watches the new server goes on without the connection: what came of it is known, and kept."""
    place.start(*place.command())
    pid = await place.one()
    host = Placed(await SshHost.login("box", options=real_sshd.options()), place.environ)
    server = server_alone(await place.see(host, pid))
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    watch = 3 if fate == "lives" else 60
    task = asyncio.ensure_future(restart(host, plan, claimed, report=lambda _: None, watch=watch))
    new = await place.one(but=[pid])
    real_sshd.cut()
    with pytest.raises(ConnectionLost):
        await task
    await host.close()
    if fate == "ends":
        os.kill(new, signal.SIGKILL)
    again = Placed(await SshHost.login("box", options=real_sshd.options()), place.environ)
    sentence = await settled(again, place)
    if fate == "lives":
        assert re.search(
            rf"was cut off .* ago just after it was launched again; the new server runs as PID {new}\.", sentence
        )
    else:
        assert f"the new server (PID {new}) has ended with exit status 137 (a server starts)" in sentence
        assert "no server runs; what it was launched with is kept on the host" in sentence
    await again.close()


async def test_a_command_that_left_the_server_to_others(place: Place, local: Placed) -> None:
    place.start(*place.command())
    host = LosesTheAnswer(LocalHost("box"), place.environ)
    server = server_alone(await place.see(host, await place.one()))
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    line = f"setsid {place.line('--seed', '9')} >/dev/null 2>&1 & echo started"
    given = LaunchCommand(line, env=place.environ, log=str(place.log))
    with pytest.raises(ConnectionLost):
        await restart(host, plan, claimed, report=silent, command=given, watch=60)
    left = await unfinished(local, token="ours")
    assert left is not None
    assert (left.can, left.new, left.step) == (("discard",), None, "launched")
    assert "no server runs" not in left.sentence
    assert left.sentence.endswith(
        "just after it was launched again; the command that launches it has ended with exit status 0 (started); whether"
        " what it started runs is not known here: look for a server before you launch it again."
    )
    assert await place.one()


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
