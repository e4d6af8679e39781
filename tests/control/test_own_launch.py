"""A launch by a launcher's own command is watched like any other, and what came of it is written down."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
from containedserver import Hasty, contained
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from waiting import eventually

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost
from bringup.core.events import Server
from bringup.hosts.base import Completed
from bringup.hosts.control import LaunchFailed, Pace, Started, Step, claim, restart, resume, survey
from bringup.hosts.control.unfinished import Unfinished

AT_WORK = "docker start llm is at work: no server has appeared yet."


async def again(host: Placed, server: Server, pace: Pace | None = None, watch: int = 0) -> Started:
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    return await restart(host, plan, claimed, report=silent, pace=pace, watch=watch)


def silent(_: Step) -> None:
    """Tell nobody."""


def cut_at_the_start(step: Step) -> None:
    """The connection is gone just before the launcher's command."""
    if step.name == "starting":
        raise ConnectionLost("The connection was cut by the test.")


class Overloaded(Placed):
    """A host that ends every script with a word in it, for it takes too long."""

    def __init__(self, host: Placed, place: Place, word: str) -> None:
        super().__init__(host.inner, place.environ)
        self._word = word

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        if self._word in script:
            raise ChannelRefused("box is overloaded.", reason="timeout")
        return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)


def commands_at_work(place: Place) -> list[int]:
    """PIDs of the docker commands of this place that run."""
    tool = str(place.folder / "bin" / "docker").encode()
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and tool in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


class Ending:
    """Ends the new server as soon as somebody waits who has seen it, which is written down in its folder."""

    def __init__(self, place: Place, folder: str) -> None:
        self.place = place
        self.new = Path(folder, "new")

    async def __call__(self, seconds: float) -> None:
        if not self.new.exists():
            await asyncio.sleep(seconds)
            return
        # It is seen by its command line, before it says that it runs.
        pid = await self.place.one()
        self.place.log.write_text("CUDA out of memory\n")
        os.kill(pid, signal.SIGKILL)
        await eventually(lambda: not self.place.running())


async def left_on(host: Placed) -> Unfinished:
    left = await unfinished(host, token="ours")
    assert left is not None
    return left


async def test_one_that_does_not_come_up_is_kept_for_another_try(host: Placed, place: Place) -> None:
    server = await contained(host, place)
    works = (place.folder / "bin" / "run-container").read_text()
    place.program("run-container", 'echo no memory left on device >"$PLACE/server.log"\nexit 1\n')
    wanted = (
        r"^The docker container llm.* was started on box, but no server appeared within 20 s: no memory left on"
        r" device\. It may still come up: the console and `bringup status` find it then\."
    )
    with pytest.raises(LaunchFailed, match=wanted):
        await again(host, server, Pace(drain=1000.0, clock=Hasty()))
    left = await left_on(host)
    assert (left.step, left.said, left.can) == ("failed", "no memory left on device", ("launch", "discard"))
    assert left.sentence.endswith(
        "the old server has ended, and docker start llm brought up no server (no memory left on device):"
        " no server runs; it can be started with docker start llm, also once more."
    )
    with pytest.raises(LaunchFailed, match=wanted):
        await resume(host, left, report=silent, pace=Pace(clock=Hasty()))
    assert (await left_on(host)).step == "failed"

    (place.folder / "bin" / "run-container").write_text(works)
    steps: list[Step] = []
    started = await resume(host, await left_on(host), report=steps.append, watch=1)
    assert await place.one() == started.pid
    told = list(dict.fromkeys(step.text for step in steps))
    assert told[0] == "Running on the host: docker start llm"
    assert set(told[1:]) <= {AT_WORK, "docker start llm is done: waiting for the server to appear."}
    assert all(step.left for step in steps)
    assert await unfinished(host, token="ours") is None
    assert place.kept() == []


async def test_a_command_that_fails_says_so_in_its_own_words(host: Placed, place: Place) -> None:
    server = await contained(host, place)
    (place.folder / "docker.broken").touch()
    wanted = (
        r"docker start llm failed on box with exit status 125: Error response from daemon: no such device nvidia0\."
    )
    with pytest.raises(LaunchFailed, match=wanted):
        await again(host, server)
    left = await left_on(host)
    assert (left.step, left.status, left.failed) == ("failed", "125", True)
    assert "docker start llm failed with exit status 125 (Error response from daemon: no such device" in left.sentence
    assert place.running() == []
    with pytest.raises(LaunchFailed, match=wanted):
        await resume(host, left, report=silent)
    assert (await left_on(host)).can == ("launch", "discard")


async def test_what_was_said_before_its_start_is_no_reason(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    old = 'echo CUDA out of memory >"$PLACE/server.log"\ntouch -d "2 days ago" "$PLACE/server.log"\nexit 1\n'
    place.program("run-container", old)
    with pytest.raises(LaunchFailed, match=r"no server appeared within 20 s: it said nothing since\."):
        await again(local, server, Pace(drain=1000.0, clock=Hasty()))
    assert (await left_on(local)).said == ""
    assert "logs --since " in (place.folder / "docker.calls").read_text()


async def test_a_server_that_stays_is_a_success_although_the_command_is_still_at_work(
    host: Placed, place: Place
) -> None:
    server = await contained(host, place)
    waits = place.folder / "docker.waits"
    waits.touch()
    steps: list[Step] = []
    claimed = await claim(host, server, "restart", token="ours")
    started = await restart(host, await survey(host, server), claimed, report=steps.append, watch=1)
    assert await place.one() == started.pid
    starting = [step for step in steps if step.name == "starting"]
    assert starting[0].left == 120.0
    assert "docker start llm is done: waiting for the server to appear." not in [step.text for step in steps]
    assert commands_at_work(place), "the command was ended with its channel"
    waits.unlink()
    await eventually(lambda: not commands_at_work(place))
    assert await place.one() == started.pid
    assert place.kept() == []


async def test_a_command_that_brings_up_nothing_is_given_up_and_written_down(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    (place.folder / "docker.waits").touch()
    place.program("run-container", "exit 1\n")
    steps: list[Step] = []
    claimed = await claim(local, server, "restart", token="ours")
    plan, pace = await survey(local, server), Pace(drain=1000.0, clock=Hasty())
    wanted = (
        r"docker start llm is still at work on box after 120 s, and no server appeared:"
        r" what it said could not be read \(box is overloaded\)\."
    )
    with pytest.raises(LaunchFailed, match=wanted):
        await restart(Overloaded(local, place, "{ docker logs"), plan, claimed, report=steps.append, pace=pace)
    lefts = [step.left for step in steps if step.text == AT_WORK]
    assert len(lefts) > 3
    assert all(left is not None and 0 < left < 120 for left in lefts)
    left = await left_on(local)
    assert left.step == "failed"
    assert "what it said could not be read" in left.said


async def test_a_host_that_does_not_tell_what_came_of_it_is_written_down(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    with pytest.raises(
        LaunchFailed, match=r"what came of it could not be seen: box is overloaded\. It may still come up"
    ):
        await again(Overloaded(local, place, '"$1/own"'), server)
    assert (await left_on(local)).step == "failed"


async def left_before_the_start(host: Placed, server: Server) -> Unfinished:
    """Return what a restart leaves whose connection is gone just before the launcher's command."""
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    with pytest.raises(ConnectionLost):
        await restart(host, plan, claimed, report=cut_at_the_start)
    return await left_on(host)


async def test_one_that_ends_soon_is_no_success(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    left = await left_before_the_start(local, server)
    assert left.step == "starting"
    with pytest.raises(LaunchFailed, match="The new server on box ended at once: CUDA out of memory"):
        await resume(local, left, report=silent, pace=Pace(sleep=Ending(place, left.claim.folder)), watch=60)
    left = await left_on(local)
    assert left.new is not None
    assert f"the new server (PID {left.new[0]}) has ended (CUDA out of memory" in left.sentence
    assert "and so has the old one: no server runs" in left.sentence


async def test_what_has_come_up_meanwhile_is_not_started_again(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    left = await left_before_the_start(local, server)
    place.start(str(place.folder / "bin" / "run-container"))
    new = await place.one()
    calls = place.folder / "docker.calls"
    before = calls.read_text()
    with pytest.raises(BringupError, match=rf"PID {new} was started there meanwhile with the same command"):
        await resume(local, left, report=silent)
    assert calls.read_text() == before
    left = await left_on(local)
    assert (left.new_alive, left.can) == (True, ("discard",))
