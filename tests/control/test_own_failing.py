"""A launcher's own command that fails, or does not end: what it did all the same is looked at, and told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from cutting import servers
from engineserver import DOCKER, Place, make_docker
from leftopen import unfinished
from placedhost import Placed
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.core.events import Server
from bringup.hosts.control import Pace, Started, Step, Stopped, claim, release, restart, stop, survey, with_stop_command
from bringup.hosts.control.journal import held
from bringup.hosts.control.own_command import GRACE, TIDYING

pytestmark = pytest.mark.long


class Leaps:
    """A clock that is far ahead after every pause: what takes minutes is over after a few looks."""

    def __init__(self, factor: float = 20.0) -> None:
        self.now = 0.0
        self._factor = factor

    async def sleep(self, seconds: float) -> None:
        self.now += seconds * self._factor
        await asyncio.sleep(seconds / 10)

    def clock(self) -> float:
        return self.now


def pace(drain: float, factor: float = 20.0) -> Pace:
    leaps = Leaps(factor)
    return Pace(drain=drain, sleep=leaps.sleep, clock=leaps.clock)


async def seen(host: Placed, place: Place, command: str, *words: str) -> Server:
    """Start a server, with a stop command in which PID stands for it."""
    place.start(*place.command(*words))
    await eventually(lambda: len(place.running()) == (2 if "--child" in words else 1))
    (pid,) = servers(place)
    return with_stop_command(await place.see(host, pid), command.replace("PID", str(pid)))


async def again(host: Placed, server: Server, times: Pace | None = None) -> Started:
    claimed = await claim(host, server, "restart", token="ours", who="ann@laptop")
    plan = await survey(host, server)
    async with held(host, claimed):
        return await restart(host, plan, claimed, report=lambda _: None, pace=times, watch=0)


async def end(host: Placed, server: Server, times: Pace, said: list[Step] | None = None) -> Stopped:
    report = (lambda _: None) if said is None else said.append
    return await stop(host, await survey(host, server), signal="OWN", report=report, pace=times)


def at_work(words: str) -> list[str]:
    """Command lines on this machine that are these words."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip())
        except OSError:
            continue
    return [line for line in lines if line == words]


# --- it fails ---


async def test_a_restart_goes_on_where_it_ended_the_server_all_the_same(host: Placed, place: Place) -> None:
    server = await seen(host, place, "kill PID; sleep 0.2; exit 3")
    started = await again(host, server)
    assert await place.one() == started.pid
    assert started.pid != server.pid
    (note,) = started.noted
    assert note == (
        f"kill {server.pid}; sleep 0.2; exit 3 failed on box with exit status 3: it said nothing,"
        " and the server ended all the same"
    )
    assert await unfinished(host, token="theirs") is None


async def test_what_it_leaves_is_waited_for_and_killed_as_promised(local: Placed, place: Place) -> None:
    server = await seen(local, place, "kill -KILL PID; exit 3", "--deaf", "--child")
    came = await end(local, server, pace(40.0))
    assert (came.complete, len(came.killed), place.running()) == (True, 1, [])
    assert "failed on box with exit status 3: it said nothing, and the server ended all the same" in came.sentence


async def test_one_that_ended_a_part_names_what_is_left_and_lets_others_go_on(local: Placed, place: Place) -> None:
    server = await seen(local, place, 'kill -KILL $(cat "$PLACE/child"); exit 3', "--child")
    (child,) = set(place.running()) - {server.pid}
    (place.folder / "child").write_text(f"{child}\n")
    wanted = (
        rf"exit status 3: it said nothing\. 1 process ended, 1 process still runs: python\S* \(PID {server.pid}, \w+\)"
    )
    with pytest.raises(ChannelRefused, match=wanted) as refused:
        await again(local, server, pace(40.0))
    assert refused.value.hint.startswith("Nothing was signalled from here. Choose a signal")
    left = await unfinished(local, token="theirs")
    assert left is not None
    assert not left.busy
    assert f"the old server still runs (PID {server.pid})" in left.sentence
    await release(local, await claim(local, server, "stop", token="theirs"))


# --- it does not end ---


async def test_one_that_hangs_after_the_end_is_given_up(host: Placed, place: Place) -> None:
    server = await seen(host, place, "kill PID; sleep 7777.25")
    said: list[Step] = []
    came = await end(host, server, pace(40.0, 4.0), said)
    assert (came.complete, came.killed, place.running()) == (True, (), [])
    given_up = f"sleep 7777.25 was still at work {TIDYING:.0f} s after all had ended, and was given up"
    assert given_up in came.sentence
    assert f"kill {server.pid}; {given_up}." in [step.text for step in said]
    await eventually(lambda: at_work("sleep 7777.25") == [])


async def test_one_that_hangs_and_ends_nothing_leaves_the_rest_to_sigkill(local: Placed, place: Place) -> None:
    server = await seen(local, place, "sleep 7778.25", "--deaf", "--child")
    said: list[Step] = []
    came = await end(local, server, pace(5.0), said)
    assert (came.complete, len(came.killed), place.running()) == (True, 2, [])
    assert f"sleep 7778.25 was still at work after {5 + GRACE:.0f} s, and was given up" in came.sentence
    late = [step for step in said if step.text == "sleep 7778.25 is still at work; 2 processes still run."]
    assert late[0].left is not None, "it is told for how long it is still waited for"
    assert said[-1].text == "SIGKILL goes to 2 processes."
    await eventually(lambda: at_work("sleep 7778.25") == [])


# --- a start command that fails, and has started it ---


async def test_a_start_command_that_failed_and_started_the_server(local: Placed, place: Place) -> None:
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    server = await place.see(local, await place.one(), within=None)
    (place.folder / "docker.state").write_text("runs running\n")
    tardy = '(sleep 0.7; rm -f "$PLACE/main"; exec "$PLACE/bin/run-container") </dev/null >>"$PLACE/server.log" 2>&1 &'
    place.program("docker", f"case $1 in start) {tardy}\necho context deadline exceeded >&2; exit 1 ;; esac\n{DOCKER}")
    started = await again(local, server)
    assert await place.one() == started.pid
    assert started.noted == (
        "docker start llm failed on box with exit status 1: context deadline exceeded,"
        " and the server came up all the same",
    )
    assert await unfinished(local, token="theirs") is None
