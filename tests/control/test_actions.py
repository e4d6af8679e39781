"""The operator's actions as the session does them: told step by step, one at a time, remembered after a cut."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from engineserver import ENGINES, Place, make_docker
from placedhost import CutAt, Placed
from waiting import eventually

from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.events import ActionStep, Event
from bringup.core.state import State
from bringup.core.wrappers import Wrappers
from bringup.engines.patience import load_policy
from bringup.hosts.control import Busy, LaunchCommand
from bringup.hosts.local import LocalHost
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.target import Target


class Told(Picture):
    """Remembers what it was told."""

    def __init__(self) -> None:
        super().__init__("box")
        self.steps: list[ActionStep] = []

    def apply(self, events: object) -> None:
        seen: list[Event] = list(events)  # type: ignore[call-overload]
        self.steps += [event for event in seen if isinstance(event, ActionStep)]
        super().apply(seen)


def made(picture: Picture, **more: object) -> Actions:
    knowledge = Knowledge(ENGINES, Wrappers((), ()), load_policy())
    clock = HostClock(monotonic=lambda: 0.0, wall=lambda: 1000.0)
    return Actions(Target("box", **more), picture, clock, knowledge)  # type: ignore[arg-type]


async def state_of(place: Place, host: Placed, within: bool = True) -> State:
    pid = await place.one()
    server = await (place.see(host, pid) if within else place.see(host, pid, within=None))
    return replace(State(node="box"), server=server)


async def test_a_plan_says_how_and_what(host: Placed, place: Place) -> None:
    place.start(*place.command("--api-key", "very-secret"))
    plan = await made(Told()).plan(host, await state_of(place, host))
    assert plan.ways == ("TERM", "GENTLE", "INT", "KILL")
    assert plan.launched_by == "Launched by a process in a session of its own (setsid)."
    assert "is put aside as" in plan.log_fate
    assert plan.command.endswith("--api-key '***'")
    assert plan.argv[-2:] == ("--api-key", "***")
    assert plan.restartable == ""


async def test_a_plan_for_a_container(local: Placed, place: Place) -> None:
    make_docker(place)
    place.start(str(place.folder / "bin" / "run-container"))
    plan = await made(Told()).plan(local, await state_of(place, local, within=False))
    assert plan.ways == ("OWN", "TERM", "GENTLE", "INT", "KILL")
    assert (plan.stop_command, plan.start_command) == ("docker stop -t 30 llm", "docker start llm")
    assert plan.argv == ()


async def test_a_stop_is_told_with_the_time_left(host: Placed, place: Place) -> None:
    place.start(*place.command())
    picture = Told()
    actions = made(picture)
    await actions.stop(host, await actions.plan(host, await state_of(place, host)))
    first, last = picture.steps[0], picture.steps[-1]
    assert first.step.startswith("SIGTERM sent to python")
    assert first.left == 30.0
    assert picture.state.action is not None
    assert (last.ended, last.failed) == (True, False)
    assert (place.running(), place.kept()) == ([], [])


async def test_a_second_key_while_the_first_one_works(local: Placed, place: Place) -> None:
    place.start(*place.command())
    picture = Told()
    actions = made(picture)
    plan = await actions.plan(local, await state_of(place, local))
    first = asyncio.ensure_future(actions.restart(local, plan))
    await eventually(lambda: bool(picture.steps))
    for second in (actions.stop(local, plan), actions.restart(local, plan)):
        with pytest.raises(Busy, match="under way already"):
            await second
    with pytest.raises(Busy, match=r"is under way by \S+@\S+"):
        await made(Told()).stop(local, plan, "KILL")
    started = await first
    assert await place.one() == started.pid


async def test_an_edited_command_keeps_its_secrets(local: Placed, place: Place) -> None:
    place.start(*place.command("--api-key", "very-secret"))
    actions = made(Told())
    plan = await actions.plan(local, await state_of(place, local))
    started = await actions.restart(local, plan, [*plan.argv, "--tp", "4"])
    server = await place.see(local, started.pid, within=None)
    assert server.argv[-4:] == ("--api-key", "very-secret", "--tp", "4")


async def test_what_happened_is_said_after_a_cut(local: Placed, place: Place) -> None:
    place.start(*place.command())
    picture = Told()
    actions = made(picture)
    plan = await actions.plan(local, await state_of(place, local))
    cut = CutAt(LocalHost("box"), place.environ, 6, after=True)
    with pytest.raises(ConnectionLost):
        await actions.restart(cut, plan)
    assert picture.steps[-1].step.startswith("The connection was lost in the middle")
    await eventually(lambda: not place.running())
    left = await actions.look_back(local)
    assert left is not None
    assert (picture.steps[-1].step, picture.steps[-1].failed) == (left.sentence, True)
    assert "no server runs" in left.sentence
    started = await actions.resume(local, left)
    assert await place.one() == started.pid
    assert await actions.look_back(local) is None


async def test_a_server_that_has_ended(local: Placed, place: Place) -> None:
    process = place.start(*place.command())
    state = await state_of(place, local)
    process.kill()
    process.wait()
    gone = replace(state, gone_at=1.0)
    plan = await made(Told()).plan(local, gone)
    assert "its environment went with it" in plan.restartable
    assert "launch command in the configuration" in plan.restartable
    with pytest.raises(BringupError, match="has ended"):
        await made(Told()).restart(local, plan)
    command = LaunchCommand(f"exec {place.line()}", str(place.folder), place.environ, str(place.log))
    actions = made(Told(), launch=command)
    plan = await actions.plan(local, gone)
    assert (plan.restartable, plan.start_command) == ("", command.command)
    started = await actions.restart(local, plan)
    assert await place.one() == started.pid
