"""A host without diffutils: a server that came up meanwhile is found all the same, and none is launched beside it."""

from __future__ import annotations

import os
import signal

import pytest
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from shellhost import Shell
from waiting import alive, eventually

from bringup.core.errors import BringupError
from bringup.hosts.base import Host
from bringup.hosts.control import claim, journal, resume
from bringup.hosts.control.relaunch import capture, launch_kept


@pytest.fixture(params=["dash", "bash", "busybox"])
def bare(request: pytest.FixtureRequest, place: Place) -> Host:
    """A host that has neither cmp nor diff."""
    tools = place.folder / "tools"
    tools.mkdir()
    shell = Shell(request.param, tools)
    if shell.bare:
        (tools / "cmp").unlink(missing_ok=True)
        return shell
    for tool in ("cmp", "diff"):
        place.program(tool, f"echo 'sh: {tool}: not found' >&2\nexit 127\n")
    return Placed(shell, place.environ)


async def test_a_second_server_is_never_launched(bare: Host, local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    claimed = await claim(bare, server, "restart", token="ours")
    await capture(bare, server, claimed)
    await journal.step(bare, claimed, "stopping")
    os.kill(server.pid, signal.SIGKILL)
    await eventually(lambda: not alive(server.pid))
    # One of another command line is another one.
    place.start(*place.command("--seed", "7"))
    other = await place.one()
    left = await unfinished(bare, token="ours")
    assert left is not None
    assert (left.new, left.can) == (None, ("launch", "discard"))
    place.start(*place.command())
    new = await place.one(but=[other])
    left = await unfinished(bare, token="ours")
    assert left is not None
    assert left.new is not None
    assert (left.new[0], left.new_alive, left.can) == (new, True, ("discard",))
    with pytest.raises(BringupError):
        await resume(bare, left, report=lambda _: None, watch=0)
    with pytest.raises(BringupError, match=rf"Nothing was launched on box: PID {new} was started there meanwhile"):
        await launch_kept(bare, claimed, watch=0)
    assert place.running() == sorted([other, new])
