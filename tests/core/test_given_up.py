"""A stop or restart from this console that was refused, or given up, explains nothing that happens later."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from givenup import BUSY, HERE, LEFT, act, given_up, killed, lost_connection, refused, said, server
from timeline import ROOT, Timeline

from bringup.core.action import CLAIMED, REFUSED
from bringup.core.events import ServerGone


@pytest.mark.parametrize("later", [0.5, 4.0, 8.0, 7000.0])
@pytest.mark.parametrize("action", ["stop", "restart"])
def test_what_was_refused_explains_no_end_however_soon_that_comes(action: str, later: float) -> None:
    verdict = killed(refused(action).wait(later)).verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind) == ("failed", "oom")
    assert HERE not in said(verdict)


def test_nor_does_one_that_had_only_kept_what_a_launch_needs() -> None:
    line = act(server(), "Keeping command, directory and environment.", "restart", name=CLAIMED).wait(1)
    assert killed(line).verdict().state == "failed"
    act(line, "Its process has ended. Nothing was done.", "restart", ended=True, failed=True, name=REFUSED)
    assert line.verdict().state == "failed"


def test_what_was_given_up_explains_no_later_end() -> None:
    verdict = killed(given_up().wait(7000).sample().wait(1)).verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind) == ("failed", "oom")
    assert HERE not in said(verdict)


def test_but_one_that_is_seen_just_after_it() -> None:
    line = given_up().wait(2).kill(None).kill(0).kill(1).sample()
    verdict = line.verdict(after=60)
    assert verdict.state == "stopped"
    assert HERE in said(verdict)
    assert "still runs" not in verdict.summary, "that is not true any more"
    assert "has failed" not in verdict.summary


def test_and_one_that_the_server_had_begun_by_then() -> None:
    line = act(server(), "SIGTERM sent to python (PID 100).", name="stopping").wait(1).ending("draining", remaining=3)
    act(line.wait(300), LEFT, ended=True, failed=True)
    assert "Nothing was killed" in line.verdict(after=60).summary
    line.wait(600).kill(None).kill(0).kill(1).sample()
    verdict = line.verdict()
    assert verdict.state == "stopped"
    assert "on purpose" not in said(verdict)
    assert "Nothing was killed" not in verdict.summary


@pytest.mark.parametrize("made", [refused, given_up])
def test_a_signal_by_somebody_else_is_not_said_to_come_from_here(made: Callable[[], Timeline]) -> None:
    line = made().wait(3600).ending("sigterm").wait(5)
    verdict = line.verdict()
    assert verdict.state == "stopped"
    assert "SIGTERM received" in verdict.summary
    assert HERE not in said(verdict)


def test_a_rank_that_was_lost_long_after_it_is_told() -> None:
    line = given_up().wait(3600).kill(1).sample().wait(2).kill(0).kill(None).sample()
    assert any("went first" in told for told in line.verdict().evidence)


def test_an_end_that_nobody_could_see_may_be_of_its_doing() -> None:
    assert lost_connection().verdict().state == "stopped"


def test_what_became_of_it_is_told_later_than_its_end() -> None:
    line = act(lost_connection().wait(3), "Nothing of the stop is left over on the host.", ended=True).wait(60)
    verdict = line.verdict()
    assert verdict.state == "stopped"
    assert HERE in said(verdict)


def test_one_that_still_ran_after_the_connection_was_back_was_not_ended_by_it() -> None:
    line = act(server(), "SIGTERM sent to python (PID 100).", name="stopping").wait(1)
    act(line, "The connection was lost in the middle: It is gone.", ended=True, failed=True).wait(40).sample()
    assert killed(line.wait(60)).verdict().state == "failed"


@pytest.mark.parametrize("then", ["stop", "restart", "clear"])
def test_what_is_refused_or_done_after_a_stop_takes_nothing_from_it(then: str) -> None:
    line = act(server(), "SIGTERM sent to python (PID 100).", name="stopping").wait(2).kill(None).kill(0).kill(1)
    act(line.sample(), "All processes have ended.", ended=True).wait(100)
    known = line.verdict()
    act(line, "Another console sees to it already.", then, ended=True, failed=True, name=REFUSED).wait(60)
    verdict = line.verdict()
    assert (verdict.state, verdict.summary, verdict.cause) == (known.state, known.summary, known.cause)
    assert line.state.action is not None
    assert line.state.action.action == then, "it is shown all the same"


def test_a_refused_restart_has_launched_nothing() -> None:
    """A server that has just been started when its restart is refused did not come of it."""
    line = Timeline().found().wait(0.5)
    act(line, "Keeping command, directory and environment.", "restart", name=CLAIMED).wait(0.3)
    act(line, BUSY, "restart", ended=True, failed=True, name=REFUSED).wait(8)
    verdict = line.add(ServerGone(at=line.now, pid=ROOT)).wait(1).verdict()
    assert "the launcher ended without an error line" in said(verdict)
    assert BUSY not in said(verdict)
