"""Consoles that act at the same moment, each with the right to: one of them does, and the others say so."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Awaitable

import pytest
from cutting import KINDS, again, see, servers, silent
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from waiting import eventually

from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control import (
    Busy,
    LaunchFailed,
    Pace,
    Started,
    Step,
    Unfinished,
    claim,
    discard,
    journal,
    release,
    restart,
    resume,
    stop,
    survey,
)

SLOW = "ln mkdir mv rm sed sh touch"
"""Programs of the host that take a while: whatever can come between two of them does."""


def slow_down(place: Place) -> None:
    for tool in SLOW.split():
        place.program(tool, f'{shutil.which("sleep")} 0.05\nexec {shutil.which(tool)} "$@"\n')


def cut_before_the_launch(step: Step) -> None:
    if step.name == "launching":
        raise ConnectionLost("The connection was cut by the test.")


async def left_in_the_middle(host: Host, server: Server) -> None:
    """A restart with another command, cut between the stop and the launch; it has given no sign for a while."""
    claimed = await claim(host, server, "restart", token="first")
    plan = await survey(host, server)
    argv = (*server.argv, "--seed", "7 8")
    with pytest.raises(ConnectionLost):
        await restart(host, plan, claimed, report=cut_before_the_launch, argv=argv, pace=Pace(drain=20.0), watch=0)
    os.utime(f"{claimed.folder}/claim", (time.time() - 60,) * 2)


async def seen(host: Host, token: str) -> Unfinished:
    left = await unfinished(host, token=token)
    assert left is not None
    assert left.can == ("launch", "discard")
    return left


async def together(*work: Awaitable[Started]) -> tuple[Started, list[BaseException]]:
    """Return what the one of them that did something did, and why the others did not."""
    came = await asyncio.gather(*work, return_exceptions=True)
    (done,) = [each for each in came if isinstance(each, Started)]
    return done, [each for each in came if isinstance(each, BaseException)]


@pytest.mark.parametrize("tokens", [("ours", "theirs"), ("first", "theirs"), ("", "")])
async def test_two_go_on_with_what_was_left(local: Placed, place: Place, tokens: tuple[str, str]) -> None:
    """Without tokens of their own they are what a connection that only seems to be lost leaves: one console twice."""
    await left_in_the_middle(local, await see(KINDS["plain"], place, local))
    slow_down(place)
    left = [await seen(local, token or "first") for token in tokens]
    done, others = await together(
        *(resume(local, left[at], report=silent, watch=0, token=token) for at, token in enumerate(tokens))
    )
    assert all(isinstance(each, BringupError) for each in others), others
    await eventually(lambda: servers(place) == [done.pid], 60)
    logs = list(place.folder.glob("server.log*"))
    assert len(logs) == 2, "the log was put aside once"
    assert {log.read_text() for log in logs} == {"a server starts\n"}
    # Whoever came too late has it in hand now, and is told that it is over.
    over = await unfinished(local, token="theirs")
    assert over is None or over.new == (done.pid, done.start)


async def test_who_goes_on_with_it_is_told_to_others(local: Placed, place: Place) -> None:
    await left_in_the_middle(local, await see(KINDS["plain"], place, local))
    left = await seen(local, "ours")
    taken = await journal.take_over(local, left.claim, "ours", "bob@desk")
    with pytest.raises(Busy, match="Another console sees to it already"):
        await journal.take_over(local, left.claim, "theirs")
    with pytest.raises(Busy, match="taken over"):
        await journal.step(local, left.claim, "launching")
    await journal.step(local, taken, "launching")
    other = await unfinished(local, token="theirs")
    assert other is not None
    assert (other.busy, other.who, other.kept) == (True, "bob@desk", True)
    await release(local, taken)


async def test_nothing_is_discarded_or_taken_over_while_it_is_launched(local: Placed, place: Place) -> None:
    await left_in_the_middle(local, await see(KINDS["plain"], place, local))
    left = await seen(local, "first")
    work = asyncio.ensure_future(resume(local, left, report=silent, watch=100))
    await eventually(lambda: bool(servers(place)), 60)
    (new,) = servers(place)
    assert (busy := await unfinished(local, token="first")) is not None
    assert busy.busy
    with pytest.raises(BringupError, match=r"at this moment.*Nothing was discarded"):
        await discard(local, left)
    with pytest.raises(Busy):
        await journal.take_over(local, left.claim, "theirs")
    os.kill(new, signal.SIGKILL)
    with pytest.raises(LaunchFailed):
        await work
    assert (await seen(local, "first")).failed


async def test_two_restarts(local: Placed, place: Place) -> None:
    server = await see(KINDS["plain"], place, local)
    slow_down(place)

    async def one(token: str) -> Started:
        claimed = await claim(local, server, "restart", token=token)
        plan = await survey(local, server)
        return await restart(local, plan, claimed, report=silent, pace=Pace(drain=20.0), watch=0)

    done, others = await together(one("ours"), one("theirs"), one("hers"))
    assert [type(each) for each in others] == [Busy, Busy]
    await eventually(lambda: servers(place) == [done.pid], 60)
    assert place.kept() == []


async def test_two_that_find_the_same_action_cut_off(local: Placed, place: Place) -> None:
    server = await see(KINDS["plain"], place, local)
    await claim(local, server, "restart", token="first")
    (folder,) = place.kept()
    os.utime(folder / "claim", (time.time() - 60,) * 2)
    slow_down(place)
    came = await asyncio.gather(
        *(claim(local, server, "stop", token=token) for token in ("ours", "theirs", "hers")), return_exceptions=True
    )
    assert sorted(type(each).__name__ for each in came) == ["Busy", "Busy", "Claim"]


async def test_a_stop_and_a_restart(local: Placed, place: Place) -> None:
    server = await see(KINDS["deaf"], place, local)
    slow_down(place)

    async def end() -> None:
        claimed = await claim(local, server, "stop", token="theirs")
        await stop(local, await survey(local, server), report=silent, claimed=claimed, pace=Pace(drain=0.3))
        await release(local, claimed)

    came = await asyncio.gather(again(KINDS["deaf"], place, local, server), end(), return_exceptions=True)
    (busy,) = [each for each in came if isinstance(each, BaseException)]
    assert isinstance(busy, Busy)
    wanted = [] if isinstance(came[0], Busy) else [came[0].pid]
    await eventually(lambda: servers(place) == wanted, 60)
    assert place.kept() == []
