"""When a look can be relied on, and what one look may call a stall."""

from __future__ import annotations

import pytest
from playedsession import Played
from timeline import Timeline

from bringup.core.errors import ConnectionLost, LoginRefused
from bringup.core.events import ChannelClosed, HttpAnswered, LinkChanged, LogWritten, Searching
from bringup.session.headless import AT_MOST, HTTP_AT_MOST


def loading() -> Timeline:
    """A server found in the middle of its load; nothing was sampled yet."""
    timeline = Timeline().found().launch(tp=2).begin("weights", (0, 1), role="target")
    return timeline.wait(20)


def sampled(timeline: Timeline, working: bool = True) -> Played:
    """Watch it with one sample a second."""

    def second(number: int) -> None:
        if number == 1:
            timeline.spawn(2)
            return
        if working:
            timeline.fault_in(0).fault_in(1)
        timeline.sample()

    return Played(timeline, second)


async def test_an_answer_rests_on_two_samples() -> None:
    look = await sampled(loading()).headless().once()
    assert look.verdict.state == "starting"
    assert 2 <= look.elapsed < 2.3
    assert 0.9 < look.watched < 1.2


async def test_no_answer_before_the_log_is_read() -> None:
    played = sampled(loading())
    played.is_level = False
    look = await played.until(lambda look: look.settled)
    assert look.elapsed == pytest.approx(AT_MOST, abs=0.3)


async def test_no_server_is_an_answer_once_it_was_looked_for() -> None:
    played = Played(Timeline(), lambda number: None)
    look = await played.until(lambda look: look.elapsed > 2)
    assert not look.settled
    played.timeline.add(Searching(at=played.now(), seeks="Looking for a launcher."))
    look = await played.headless().once()
    assert (look.verdict.state, look.settled) == ("waiting", True)


async def test_processes_that_cannot_be_seen_are_not_waited_for() -> None:
    timeline = loading().add(ChannelClosed(at=0, channel="processes", why="no awk"))
    assert (await Played(timeline).headless().once()).elapsed < 1.3


async def test_the_port_is_heard_where_its_answer_counts() -> None:
    timeline = loading().end("weights", (0, 1), role="target").reached("http-up", "ready")
    played = sampled(timeline)
    look = await played.until(lambda look: look.settled)
    assert look.elapsed == pytest.approx(HTTP_AT_MOST, abs=0.3)
    timeline = loading().end("weights", (0, 1), role="target").reached("http-up", "ready")
    timeline.add(HttpAnswered(at=timeline.now, path="/health", status=200))
    assert (await sampled(timeline).headless().once()).elapsed < 2.3


async def test_silence_of_the_log_is_no_stall_while_the_processes_work() -> None:
    timeline = loading().wait(3600)
    look = await sampled(timeline).headless().once()
    assert look.verdict.state in ("starting", "slow")


async def test_a_log_as_old_as_the_phase_cannot_explain_is_a_stall_where_nothing_moves() -> None:
    timeline = loading()
    last = timeline.now
    timeline.wait(3600).add(LogWritten(at=last))
    look = await sampled(timeline, working=False).headless().once()
    assert look.verdict.state == "stalled"


async def test_a_log_that_was_written_to_lately_is_none_though_its_stamps_are_old() -> None:
    """The stamps are of another zone: the host's own word for the file counts."""
    timeline = loading().wait(3600)
    timeline.add(LogWritten(at=timeline.now - 5))
    look = await sampled(timeline, working=False).headless().once()
    assert look.verdict.state == "starting"


async def test_a_stopped_rank_is_proof_in_two_samples() -> None:
    timeline = loading()

    def second(number: int) -> None:
        if number == 1:
            timeline.spawn(2).change(1, state="T").sample()
        else:
            timeline.fault_in(0).sample()

    look = await Played(timeline, second).headless().once()
    assert look.verdict.state == "stalled"
    assert look.verdict.failed_ranks == (1,)
    assert look.elapsed < 2.3


async def test_a_lost_connection_ends_one_look() -> None:
    played = sampled(loading())
    played.timeline.add(LinkChanged(at=played.now(), status="lost", why="The cable."))
    with pytest.raises(ConnectionLost, match="The cable"):
        await played.headless().once()


async def test_a_connection_that_came_back_is_looked_at_anew() -> None:
    played = sampled(loading())
    await played.until(lambda look: look.elapsed > 5)
    headless = played.headless()
    played.timeline.add(LinkChanged(at=played.now(), status="lost", why="The cable."))
    async for look in (looks := headless.looks()):
        if not look.settled and look.elapsed > 0.5:
            break
    played.timeline.add(LinkChanged(at=played.now(), status="up"))
    began = played.clock
    async for look in looks:
        if look.settled:
            break
    await looks.aclose()
    assert played.clock - began > 1


async def test_what_ends_the_watch_is_raised() -> None:
    played = sampled(loading())
    played.failure = LoginRefused("The key is not taken any more.")
    with pytest.raises(LoginRefused, match="not taken any more"):
        await played.until(lambda look: False)
