"""What a launcher's own command has started is asked after; one that is still at work is not run once more."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from containedserver import Hasty, contained
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from waiting import eventually

from bringup.core.errors import ConnectionLost
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control import LaunchFailed, Pace, Started, Step, claim, restart, resume, survey
from bringup.hosts.control.own_launch import SURE
from bringup.hosts.control.unfinished import Unfinished

LONG = 60.0


def barren(place: Place, state: str) -> None:
    """The container's next start brings up no server, and docker says this of it."""
    place.program("run-container", 'echo no memory left on device >"$PLACE/server.log"\nexit 1\n')
    (place.folder / "docker.state").write_text(state)


async def again(host: Placed, server: Server, steps: list[Step], pace: Pace | None = None) -> Started:
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    return await restart(host, plan, claimed, report=steps.append, pace=pace, watch=0)


async def left_on(host: Placed) -> Unfinished:
    left = await unfinished(host, token="ours")
    assert left is not None
    return left


def calls(place: Place, command: str) -> int:
    """How often docker was called like this."""
    return (place.folder / "docker.calls").read_text().split("\n").count(command)


def inspected(host: Placed) -> int:
    return sum(script.endswith("\ncontainer llm docker") for script in host.scripts)


# --- whether it lives ---


async def test_a_container_that_exits_at_once_is_told_in_the_words_of_docker(host: Placed, place: Place) -> None:
    server = await contained(host, place)
    barren(place, "ended exited, exit status 137, OOMKilled\n")
    wanted = (
        r"^The docker container llm was started on box, and it has ended \(exited, exit status 137, OOMKilled\):"
        r" no memory left on device\. It can be tried again"
    )
    steps: list[Step] = []
    with pytest.raises(LaunchFailed, match=wanted):
        await again(host, server, steps)
    assert inspected(host) == SURE, "it was waited for although docker had said that it has ended"
    left = await left_on(host)
    assert left.said == "exited, exit status 137, OOMKilled: no memory left on device"
    assert left.lives == "container llm docker"
    with pytest.raises(LaunchFailed, match=wanted):
        await resume(host, left, report=steps.append)


async def test_one_that_lives_is_waited_for_longer_and_told_so(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    barren(place, "runs running\n")
    steps: list[Step] = []
    wanted = r"but no server appeared within 120 s: it runs \(running\): no memory left on device\. It may still come"
    with pytest.raises(LaunchFailed, match=wanted):
        await again(local, server, steps, Pace(drain=1000.0, clock=Hasty()))
    assert "The docker container llm runs (running): its server has not appeared yet." in [step.text for step in steps]


async def test_one_that_is_started_again_and_again_is_not_waited_for_longer(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    barren(place, "waits restarting, exit status 1\n")
    wanted = r"but no server appeared within 20 s: it does not run yet \(restarting, exit status 1\): no memory left"
    with pytest.raises(LaunchFailed, match=wanted):
        await again(local, server, [], Pace(drain=1000.0, clock=Hasty()))


async def test_one_that_is_just_being_started_again_has_not_ended(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    works = (place.folder / "bin" / "run-container").read_text()
    barren(place, "ended exited, exit status 1\n")
    looks = 0

    async def turn(_: float) -> None:
        nonlocal looks
        looks += bool(inspected(local))
        if looks == SURE - 1:
            (place.folder / "docker.state").write_text("runs running\n")
            (place.folder / "bin" / "run-container").write_text(works)
            place.start(str(place.folder / "bin" / "run-container"))

    started = await again(local, server, [], Pace(sleep=turn))
    assert await place.one() == started.pid


# --- a command that is still at work ---


async def hung(host: Placed, place: Place, server: Server) -> Unfinished:
    """Return what a restart leaves whose start command does not come to its end."""
    (place.folder / "docker.waits").touch()
    barren(place, "")
    with pytest.raises(
        LaunchFailed, match=r"still at work on box after 120 s.* whoever goes on with this waits for it"
    ):
        await again(host, server, [], Pace(drain=1000.0, clock=Hasty()))
    return await left_on(host)


async def goes_on(host: Placed, left: Unfinished, then: Callable[[], Awaitable[None]]) -> tuple[Started, list[Step]]:
    """Go on with it, and do something while that waits."""
    steps: list[Step] = []
    task = asyncio.ensure_future(resume(host, left, report=steps.append, watch=0))
    try:
        await eventually(lambda: len(steps) > 2 or task.done(), LONG)
        await then()
        return await task, steps
    finally:
        task.cancel()


async def test_going_on_waits_for_a_command_that_is_still_at_work(host: Placed, place: Place) -> None:
    server = await contained(host, place)
    works = (place.folder / "bin" / "run-container").read_text()
    left = await hung(host, place, server)
    assert left.at_work is not None
    assert re.search(
        rf"ended, and docker start llm \(PID {left.at_work[0]}\) is still at work.*; that can be waited for, and is not"
        r" run a second time\.$",
        left.sentence,
    )
    assert left.can == ("launch", "discard")
    (place.folder / "bin" / "run-container").write_text(works)

    async def comes() -> None:
        place.start(str(place.folder / "bin" / "run-container"))

    started, steps = await goes_on(host, left, comes)
    assert steps[0].text == (
        "docker start llm is still at work since before: it is waited for, and not run a second time."
    )
    assert calls(place, "start llm") == 1
    assert await place.one() == started.pid
    (place.folder / "docker.waits").unlink()


async def test_how_a_command_ended_that_was_waited_for_is_told(local: Placed, place: Place) -> None:
    left = await hung(local, place, await contained(local, place))
    (place.folder / "docker.fails").write_text("Error response from daemon: no such device nvidia0\n")

    async def ends() -> None:
        (place.folder / "docker.waits").unlink()

    with pytest.raises(LaunchFailed, match=r"start llm failed on box with exit status 125: .*no such device nvidia0"):
        await goes_on(local, left, ends)
    assert calls(place, "start llm") == 1
    assert (await left_on(local)).at_work is None


async def test_one_that_has_ended_meanwhile_is_run_again(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    works = (place.folder / "bin" / "run-container").read_text()
    left = await hung(local, place, server)
    (place.folder / "docker.waits").unlink()
    (place.folder / "bin" / "run-container").write_text(works)
    assert left.at_work is not None
    await eventually(lambda: not Path(f"/proc/{left.at_work[0]}").exists(), LONG)  # type: ignore[index]
    left = await left_on(local)
    assert left.at_work is None
    assert "it can be started with docker start llm, also once more" in left.sentence
    started = await resume(local, left, report=lambda _: None, watch=0)
    assert calls(place, "start llm") == 2
    assert await place.one() == started.pid


async def test_another_process_by_the_same_number_is_not_waited_for(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    claimed = await claim(local, server, "restart", token="ours")
    plan = await survey(local, server)

    def cut(step: Step) -> None:
        if step.name == "starting":
            raise ConnectionLost("The connection was cut by the test.")

    with pytest.raises(ConnectionLost):
        await restart(local, plan, claimed, report=cut)
    Path(claimed.folder, "at-work.0").write_text(f"{os.getpid()}:1\n")
    left = await left_on(local)
    assert left.at_work is None
    started = await resume(local, left, report=lambda _: None, watch=0)
    assert calls(place, "start llm") == 1
    assert await place.one() == started.pid


async def test_it_is_not_run_where_it_could_not_be_found_again(local: Placed, place: Place) -> None:
    """Two consoles that ask at once: the second one has looked before the first one is written down."""
    server = await contained(local, place)
    left = await hung(local, place, server)
    blind = Changed(local.inner, place.environ, "if ! other=$(launching", "if ! other=$(false")

    async def ends() -> None:
        (place.folder / "docker.fails").write_text("it was the first one\n")
        (place.folder / "docker.waits").unlink()

    with pytest.raises(LaunchFailed, match="it was the first one"):
        await goes_on(blind, left, ends)
    assert calls(place, "start llm") == 1


async def test_what_cannot_be_written_down_is_not_run(local: Placed, place: Place) -> None:
    server = await contained(local, place)
    full = Changed(local.inner, place.environ, 'turn "$1" at-work', "false")
    with pytest.raises(LaunchFailed, match="it was not run, for that could not be written down"):
        await again(full, server, [])
    assert calls(place, "start llm") == 0


class Changed(Placed):
    """A host on which a part of the script that starts is another one."""

    def __init__(self, host: Host, environ: Mapping[str, str], part: str, other: str) -> None:
        super().__init__(host, environ)
        self._part, self._other = part, other

    async def run(self, script: str, **more: object):  # type: ignore[no-untyped-def, override]
        return await super().run(script.replace(self._part, self._other, 1), **more)  # type: ignore[arg-type]
