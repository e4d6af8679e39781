"""How long a stop waits: as the engine needs, as the operator says, longer without a kill, or no longer from now on."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace

import pytest
from engineserver import Place
from pauses import Pauses
from placedhost import Placed
from waiting import eventually

from bringup.core.errors import UsageError
from bringup.core.events import Launcher, Server
from bringup.engines.endings import ending_of, parse_endings
from bringup.hosts.control import Hurry, Pace, Step, Survey, stop, survey, with_stop_command
from bringup.hosts.control.relaunch import Launchable
from bringup.session.acting import make_plan, way_of
from bringup.session.target import Drains

SERVER = Server(pid=9, start=1, engine="sglang", argv=("python",))


async def hurried(_: float) -> None:
    await asyncio.sleep(0)


async def deaf(local: Placed, place: Place) -> Server:
    place.start(*place.command("--deaf"))
    return await place.see(local, await place.one())


def test_every_engine_has_what_it_needs() -> None:
    assert ending_of("sglang").drain > 20, "5 s without requests, and 15 s more for its schedulers"
    vllm = ending_of("vllm")
    assert vllm.again > 0
    assert vllm.drain > vllm.again + 10.5, "it needs so long after the second signal while it loads"
    assert ending_of("unheard-of") == ending_of("")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"default": {"drain": 1, "patient": 2}}, r"\[default\]: again is None"),
        ({"default": {"drain": "9 s", "patient": 2, "again": 0}}, "drain is '9 s'"),
        ({"default": {"drain": 1, "patient": 2, "again": 0}, "x": {"drain": 3}}, "no reason or no sample"),
    ],
)
def test_times_that_cannot_be_are_told(table: dict[str, dict[str, object]], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_endings(table, "own.toml")


async def test_a_stop_waits_as_long_as_the_engine_needs(local: Placed, place: Place) -> None:
    server = await deaf(local, place)
    moments = iter(range(1000))
    said: list[Step] = []
    pace = Pace(sleep=hurried, clock=lambda: float(next(moments)))
    await stop(local, await survey(local, server), report=said.append, pace=pace)
    assert said[0].left == ending_of("sglang").drain
    assert place.running() == []


async def test_the_second_signal_comes_where_the_first_one_is_swallowed(local: Placed, place: Place) -> None:
    server = replace(await deaf(local, place), engine="vllm")
    moments = iter(range(1000))
    said: list[Step] = []
    pace = Pace(sleep=hurried, clock=lambda: float(next(moments)))
    await stop(local, await survey(local, server), report=said.append, pace=pace)
    assert sum(step.text.startswith("SIGTERM sent") for step in said) == 2


async def test_the_gentle_way_kills_nothing_and_says_what_still_runs(host: Placed, place: Place) -> None:
    server = await deaf(host, place)
    said: list[Step] = []
    pauses = Pauses()
    pace = Pace(drain=2.0, kills=False, sleep=pauses.sleep, clock=pauses.clock)
    came = await stop(host, await survey(host, server), report=said.append, pace=pace)
    assert place.running() == [server.pid]
    assert not came.complete
    assert " would not end: " in came.sentence
    assert came.sentence.endswith(", and nothing was killed.")
    told = [step for step in said if "nothing killed" in step.text]
    assert told
    assert all(step.left is not None for step in told)
    assert not any("SIGKILL" in step.text for step in said)


async def test_a_server_that_ends_in_the_gentle_time_is_stopped_like_any_other(local: Placed, place: Place) -> None:
    place.start(*place.command())
    plan = await survey(local, await place.see(local, await place.one()))
    came = await stop(local, plan, report=lambda _: None, pace=Pace(drain=300.0, kills=False))
    assert (came.complete, came.killed, place.running()) == (True, (), [])


@pytest.mark.parametrize("kills", [True, False])
async def test_no_more_time_kills_what_is_left_at_once(host: Placed, place: Place, kills: bool) -> None:
    server = await deaf(host, place)
    hurry = Hurry()

    def ask(step: Step) -> None:
        if "still run" in step.text:
            hurry.now()

    pace = Pace(drain=5000.0, kills=kills, hurry=hurry)
    async with asyncio.timeout(120):
        came = await stop(host, await survey(host, server), report=ask, pace=pace)
    assert (came.complete, len(came.killed), place.running()) == (True, 1, [])


async def test_no_more_time_ends_the_wait_for_a_launchers_own_command(local: Placed, place: Place) -> None:
    server = with_stop_command(await deaf(local, place), "sleep 5000")
    hurry = Hurry()

    def ask(step: Step) -> None:
        if "at work" in step.text:
            hurry.now()

    async with asyncio.timeout(120):
        came = await stop(
            local, await survey(local, server), signal="OWN", report=ask, pace=Pace(drain=5000.0, hurry=hurry)
        )
    assert (came.complete, len(came.killed), place.running()) == (True, 1, [])


async def test_a_hurry_of_an_earlier_stop_counts_no_more(local: Placed, place: Place) -> None:
    server = await deaf(local, place)
    hurry = Hurry()
    hurry.now()
    said: list[Step] = []
    pauses = Pauses()
    pace = Pace(drain=2.0, hurry=hurry, sleep=pauses.sleep, clock=pauses.clock)
    await stop(local, await survey(local, server), report=said.append, pace=pace)
    assert any("SIGKILL in" in step.text for step in said)


def test_a_plan_has_the_times_of_the_engine_until_others_are_told() -> None:
    launcher = Launcher(stop="docker stop -t {drain} llm")
    looked = Survey(replace(SERVER, launcher=launcher), ())
    plan = make_plan("box", looked, Launchable(), None, Drains())
    assert (plan.drain, plan.patience) == (30.0, 300.0)
    assert plan.stop_command == "docker stop -t 30 llm"
    plan = make_plan("box", looked, Launchable(), None, Drains(drain=90.0, patient=1200.0))
    assert (plan.drain, plan.patience) == (90.0, 1200.0)
    assert plan.waiting(45.0).stop_command == "docker stop -t 45 llm"
    way, pace = way_of(plan.waiting(45.0), "")
    assert (way, pace.drain, pace.kills) == ("OWN", 45.0, True)
    way, pace = way_of(plan, "GENTLE")
    assert (way, pace.drain, pace.kills) == ("TERM", 1200.0, False)
    assert pace.hurry is plan.hurry


async def test_what_was_stopped_and_does_not_hear_is_killed_after_the_drain(local: Placed, place: Place) -> None:
    place.start(*place.command("--deaf"))
    server = await place.see(local, await place.one())
    os.kill(server.pid, signal.SIGSTOP)
    came = await stop(local, await survey(local, server), report=lambda _: None, pace=Pace(drain=0.3))
    await eventually(lambda: place.running() == [])
    assert len(came.killed) == 1


@pytest.mark.long
async def test_the_wait_for_a_new_start_is_no_time_in_which_the_server_ended(local: Placed, place: Place) -> None:
    (place.folder / "run.sh").write_text(f"{place.line()}\nsleep 104\nexec bash run.sh\n")
    place.start("bash", "run.sh")
    server = await place.see(local, await place.one())
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds
        await asyncio.sleep(0.01)

    pace = Pace(drain=1e6, respawn=2e6, sleep=sleep, clock=lambda: now[0])
    pace = replace(pace, respawn=30.0)
    came = await stop(local, await survey(local, server), report=lambda _: None, pace=pace)
    assert came.supervised
    assert came.took == pytest.approx(now[0] - 30.0, abs=0.6)
