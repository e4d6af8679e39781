"""When a wait ends: at every end of a start, and by the clock only where it was asked to."""

from __future__ import annotations

from functools import partial

import pytest
from playedsession import Played
from timeline import Timeline

from bringup.core.events import HttpAnswered, LinkChanged, PortSeen, Searching, ServerGone
from bringup.engines.patience import load_policy
from bringup.session.headless import Look
from bringup.session.waiting import ANSWER, LATE, LOSS_HOLDS, QUIET_SEEN, STALL_HOLDS, Terms, Wait, impatient

NEVER = Terms()


def loading() -> Timeline:
    return Timeline().found().launch(tp=2).spawn(2).begin("weights", (0, 1), role="target")


def works(timeline: Timeline, number: int) -> None:
    timeline.fault_in(0).fault_in(1).sample()


def rests(timeline: Timeline, number: int) -> None:
    timeline.sample()


async def waited(played: Played, terms: Terms = NEVER, most: float = 7200.0) -> Look:
    played.policy = impatient(played.policy, terms.stall)
    return await played.until(Wait(terms).is_over, most)


async def test_a_start_that_works_is_waited_for_as_long_as_it_takes() -> None:
    timeline = loading()
    with pytest.raises(AssertionError, match=r"still (starting|slow) after 900"):
        await waited(Played(timeline, partial(works, timeline)), most=900.0)


async def test_only_a_timeout_that_was_asked_for_ends_it() -> None:
    timeline = loading()
    look = await waited(Played(timeline, partial(works, timeline)), Terms(timeout=60))
    assert look.verdict.state in ("starting", "slow")
    assert 60 <= look.elapsed < 61


async def test_a_failure_ends_it_at_once() -> None:
    timeline = loading()

    def second(number: int) -> None:
        works(timeline, number)
        if number == 20:
            timeline.fault("oom", rank=1)
            timeline.ending("child-killed")

    look = await waited(Played(timeline, second))
    assert (look.verdict.state, look.verdict.cause and look.verdict.cause.kind) == ("failed", "oom")
    assert look.elapsed < 22


async def test_a_rank_that_is_lost_while_its_launcher_lives_on_is_one_after_a_while() -> None:
    timeline = loading()

    def second(number: int) -> None:
        if number == 20:
            timeline.kill(0)
        timeline.sample()

    look = await waited(Played(timeline, second))
    assert (look.verdict.state, look.verdict.failed_ranks) == ("failed", (0,))
    assert 20 + LOSS_HOLDS - 1 <= look.elapsed <= 20 + LOSS_HOLDS + 1


async def test_silence_is_a_stall_after_the_patience_of_the_phase() -> None:
    timeline = loading()
    look = await waited(Played(timeline, partial(rests, timeline)))
    assert look.verdict.state == "stalled"
    stalled = load_policy().patience["weights"].stalled
    assert stalled <= look.elapsed <= stalled + 2


async def test_another_patience_replaces_that_of_the_phase() -> None:
    timeline = loading()
    look = await waited(Played(timeline, partial(rests, timeline)), Terms(stall=30))
    assert look.verdict.state == "stalled"
    assert 30 <= look.elapsed <= 32


async def test_a_longer_patience_too() -> None:
    timeline = loading()
    stall = 4 * load_policy().patience["weights"].stalled
    look = await waited(Played(timeline, partial(rests, timeline)), Terms(stall=stall))
    assert stall <= look.elapsed <= stall + 2


async def test_silence_before_our_time_is_looked_at_for_a_while() -> None:
    """It was silent for an hour when we came: one second without work is not yet enough to leave for."""
    timeline = Timeline().found().launch(tp=2).begin("weights", (0, 1), role="target").wait(3600)

    def second(number: int) -> None:
        if number == 1:
            timeline.spawn(2)
        timeline.sample()

    look = await waited(Played(timeline, second))
    assert look.verdict.state == "stalled"
    assert QUIET_SEEN <= look.elapsed < QUIET_SEEN + 3


async def test_an_old_log_and_bursts_of_work_every_20_seconds_are_waited_for() -> None:
    timeline = Timeline().found().launch(tp=2).begin("weights", (0, 1), role="target").wait(600)

    def second(number: int) -> None:
        if number == 1:
            timeline.spawn(2)
        elif number % 20 == 0:
            timeline.fault_in(0).fault_in(1)
        timeline.sample()

    with pytest.raises(AssertionError, match=r"still (starting|slow) after 130"):
        await waited(Played(timeline, second), most=130.0)


async def test_a_server_is_waited_for_and_then_watched() -> None:
    timeline = Timeline()
    timeline.add(Searching(at=timeline.now, seeks="Looking."))

    def second(number: int) -> None:
        if number == 100:
            timeline.found(started_at=timeline.now).launch(tp=1).spawn(1)
        elif number > 100:
            timeline.fault_in(0).sample()
        if number == 120:
            timeline.fault("oom", rank=0)
            timeline.ending("child-killed")

    look = await waited(Played(timeline, second))
    assert look.verdict.state == "failed"
    assert 119.9 <= look.elapsed < 123


async def test_a_server_that_does_not_come_is_waited_for_as_long_as_was_asked() -> None:
    timeline = Timeline()
    timeline.add(Searching(at=timeline.now, seeks="Looking."))
    look = await waited(Played(timeline), Terms(appear=45))
    assert look.verdict.state == "waiting"
    assert 45 <= look.elapsed < 46


async def test_the_time_to_appear_does_not_end_a_start() -> None:
    timeline = loading()
    look = await waited(Played(timeline, partial(works, timeline)), Terms(appear=5, timeout=30))
    assert look.elapsed >= 30


async def test_an_end_in_an_old_log_is_held_back_for_the_server_that_is_just_coming() -> None:
    timeline = (
        Timeline().launch(tp=2).begin("weights", (0, 1), role="target").fault("oom", rank=1).ending("child-killed")
    )
    timeline.wait(600).add(Searching(at=timeline.now, seeks="Looking."))
    look = await waited(Played(timeline))
    assert look.verdict.state == "failed"
    assert LATE <= look.elapsed < LATE + 1


async def test_the_end_of_a_server_that_was_watched_is_not_held_back() -> None:
    timeline = loading()

    def second(number: int) -> None:
        if number < 5:
            works(timeline, number)
        elif number == 5:
            timeline.add(ServerGone(at=timeline.now, pid=100))

    look = await waited(Played(timeline, second))
    assert look.verdict.state in ("stopped", "failed")
    assert look.elapsed < 7


async def test_nothing_is_decided_without_a_connection() -> None:
    timeline = loading()
    played = Played(timeline)
    timeline.fault("oom", rank=1).ending("child-killed")
    timeline.add(LinkChanged(at=timeline.now, status="lost", why="The cable."))
    wait = Wait(Terms(timeout=20))
    look = await played.until(lambda look: wait.is_over(look) or wait.ran_out(look))
    assert not wait.is_over(look)
    assert look.elapsed >= 20


async def test_a_stall_that_one_sample_shows_is_not_left_for() -> None:
    timeline = loading()

    def second(number: int) -> None:
        timeline.change(1, state="T" if 10 <= number < 10 + stops else "R")
        (timeline.fault_in(0) if 10 <= number < 10 + stops else timeline.fault_in(0).fault_in(1)).sample()

    stops = 5
    with pytest.raises(AssertionError, match=r"still (starting|slow) after 60"):
        await waited(Played(timeline, second), most=60.0)
    timeline, stops = loading(), 1000
    look = await waited(Played(timeline, second))
    assert look.verdict.failed_ranks == (1,)
    assert 13 + STALL_HOLDS - 1 <= look.elapsed <= 13 + STALL_HOLDS + 2


@pytest.mark.parametrize(("status", "ends"), [(200, 31), (500, None), (None, 30 + ANSWER)])
async def test_a_ready_line_waits_for_the_answer_of_a_port_that_can_be_asked(
    status: int | None, ends: float | None
) -> None:
    timeline = loading()

    def second(number: int) -> None:
        works(timeline, number)
        if number == 10:
            timeline.end("weights", (0, 1), role="target").add(PortSeen(at=timeline.now, port=30000, pid=100))
            timeline.add(HttpAnswered(at=timeline.now, path="/health", status=503))
        if number == 30:
            timeline.reached("http-up", "ready")
        if status is not None and number > 30:
            timeline.add(HttpAnswered(at=timeline.now, path="/health", status=status))

    if ends is None:
        with pytest.raises(AssertionError, match=r"still (starting|slow) after 60"):
            await waited(Played(timeline, second), most=60.0)
        return
    look = await waited(Played(timeline, second))
    assert look.verdict.state == "ready"
    assert look.elapsed == pytest.approx(ends, abs=1.5)


async def test_a_ready_line_is_no_end_while_nobody_listens() -> None:
    timeline = loading()

    def second(number: int) -> None:
        works(timeline, number)
        timeline.add(PortSeen(at=timeline.now, port=30000, pid=None))
        if number == 10:
            timeline.end("weights", (0, 1), role="target").reached("http-up", "ready")

    with pytest.raises(AssertionError, match=r"still (starting|slow) after 60"):
        await waited(Played(timeline, second), most=60.0)


def test_without_a_stall_of_its_own_the_policy_stays() -> None:
    policy = load_policy()
    assert impatient(policy, None) is policy
    assert {known.stalled for known in impatient(policy, 7).patience.values()} == {7}
    assert {known.slow for known in impatient(policy, 7).patience.values()} == {7}


def without_a_server(timeline: Timeline, silent: float) -> Timeline:
    timeline.wait(silent).add(Searching(at=timeline.now, seeks="Looking."))
    return timeline


async def test_an_old_log_of_a_server_that_was_ready_is_no_server() -> None:
    old = Timeline().launch(tp=2).begin("weights", (0, 1), role="target").end("weights", (0, 1), role="target")
    timeline = without_a_server(old.reached("http-up", "ready"), 7200)
    look = await waited(Played(timeline), Terms(appear=3))
    assert look.verdict.state == "unknown"
    assert 3 <= look.elapsed < 4
    assert Wait(Terms(appear=3)).is_missed(look)


async def test_an_old_log_of_a_start_is_no_server_either() -> None:
    timeline = without_a_server(Timeline().launch(tp=2).begin("weights", (0, 1), role="target"), 60)
    look = await waited(Played(timeline), Terms(appear=1))
    assert look.verdict.state in ("starting", "slow")
    assert LATE <= look.elapsed < LATE + 1


async def test_a_log_that_grows_is_a_server_whose_processes_are_elsewhere() -> None:
    timeline = without_a_server(Timeline().launch(tp=2).begin("weights", (0, 1), role="target"), 60)

    def second(number: int) -> None:
        if number % 5 == 0:
            timeline.bytes()

    with pytest.raises(AssertionError, match=r"still (starting|slow) after 60"):
        await waited(Played(timeline, second), Terms(appear=1), most=60.0)


async def test_an_end_in_an_old_log_is_held_back_as_long_as_a_server_may_take_to_appear() -> None:
    old = Timeline().launch(tp=2).begin("weights", (0, 1), role="target").fault("oom", rank=1).ending("child-killed")
    look = await waited(Played(without_a_server(old, 600)), Terms(appear=50))
    assert look.verdict.state == "failed"
    assert 50 <= look.elapsed < 51
    assert not Wait(Terms(appear=50)).is_missed(look)
