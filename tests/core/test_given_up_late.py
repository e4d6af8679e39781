"""What a stop from here that was given up or cut off has begun may end the server later; nothing ends what has gone."""

from __future__ import annotations

import pytest
from givenup import BUSY, HERE, LEFT, act, given_up, killed, lost_connection, said, server
from timeline import ROOT, Timeline

from bringup.core.action import REFUSED
from bringup.core.events import ActionStep, KernelLine, KernelSaid
from bringup.core.kernel import is_unexplained

PORT = "Port 30000 is held by x."
LOST = "The connection was lost in the middle: It is gone."


def gone(line: Timeline) -> Timeline:
    """Let the ranks complain of each other while all of it ends."""
    line.fault("peer-lost", "Connection closed by peer", 1, secondary=True)
    return line.kill(None).kill(0).kill(1).sample().wait(2)


@pytest.mark.parametrize("action", ["stop", "restart"])
@pytest.mark.parametrize("later", [12.0, 60.0, 290.0])
def test_a_server_that_ends_by_itself_a_while_after_a_stop_was_given_up_was_stopped(action: str, later: float) -> None:
    line = act(server(), "SIGTERM sent to python (PID 100).", action, name="stopping").wait(300)
    act(line, LEFT, action, ended=True, failed=True).wait(later - 3).sample().wait(3)
    verdict = gone(line).verdict()
    assert verdict.state == "stopped"
    assert HERE in said(verdict)


def test_one_that_ends_much_later_was_not() -> None:
    verdict = gone(given_up().wait(300).sample().wait(3)).verdict()
    assert verdict.state == "failed"
    assert HERE not in said(verdict)


def test_one_that_was_refused_explains_no_later_end() -> None:
    line = act(server(), BUSY, ended=True, failed=True, name=REFUSED).wait(9).sample().wait(3)
    assert gone(line).verdict().state == "failed"


def test_nor_does_one_that_was_done() -> None:
    line = act(server(), "SIGTERM sent.", name="stopping").wait(2)
    act(line, "All processes have ended.", ended=True).wait(9).sample().wait(3)
    assert gone(line).verdict().state == "failed"


def test_an_error_of_its_own_wins_over_it() -> None:
    line = given_up().wait(20).fault("cuda-oom", "CUDA out of memory", 1).wait(1)
    verdict = gone(line).verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind) == ("failed", "cuda-oom")


def test_so_does_the_kernel_which_is_asked() -> None:
    line = gone(given_up().wait(20).sample().wait(1))
    assert is_unexplained(line.state, line.verdict())
    oom = KernelLine(at=line.now - 2, kind="oom", text=f"Out of memory: Killed process {ROOT} (python3)", pid=ROOT)
    verdict = line.add(KernelSaid(at=line.now, lines=(oom,))).verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind) == ("failed", "oom")
    soon = given_up().wait(1).kill(None).kill(0).kill(1).sample()
    assert not is_unexplained(soon.state, soon.verdict()), "that one is known"


def test_somebody_else_who_stops_it_meanwhile_counts_before_it() -> None:
    line = given_up().wait(30).sample()
    theirs = ActionStep(at=line.now, action="stop", step="It is asked to end.", who="ann@laptop", since=line.now)
    verdict = gone(line.add(theirs).wait(2)).verdict()
    assert verdict.state == "stopped"
    assert "ann@laptop" in verdict.summary


def cut_off() -> tuple[Timeline, float]:
    """A stop whose connection is lost; the server drains when it is back."""
    line = act(server(), "SIGTERM sent to python (PID 100).", name="stopping")
    since = line.now
    act(line.wait(1), LOST, ended=True, failed=True).wait(40).sample()
    return act(line, "A stop was cut off.", ended=True, failed=True, since=since), since


def test_one_that_drains_when_the_connection_is_back_was_stopped() -> None:
    line, since = cut_off()
    verdict = gone(line.wait(9).sample().wait(3)).verdict()
    assert verdict.state == "stopped"
    act(line, "The stop of it that was cut off is done.", ended=True, since=since)
    verdict = line.verdict()
    assert (verdict.state, HERE in said(verdict)) == ("stopped", True)
    assert "has failed" not in verdict.summary


@pytest.mark.parametrize("seen", [True, False])
def test_what_is_told_of_it_hours_later_does_not_move_its_end(seen: bool) -> None:
    """Whether the look at what is left over or the sample comes first."""
    line, since = cut_off()
    line.wait(7000).sample().wait(1)
    if seen:
        killed(line)
    act(line, "The stop of it that was cut off is done.", ended=True, since=since)
    if not seen:
        killed(line)
    verdict = line.verdict()
    assert (verdict.state, verdict.cause and verdict.cause.kind) == ("failed", "oom")


def silently_gone() -> Timeline:
    return server().wait(60).kill(1).sample().wait(2).kill(0).kill(None).sample()


@pytest.mark.parametrize("later", [3.0, 540.0])
@pytest.mark.parametrize("action", ["stop", "restart"])
def test_what_is_begun_after_the_end_explains_nothing(action: str, later: float) -> None:
    line = silently_gone()
    known = line.verdict(after=600)
    act(line.wait(later), "Launching it again.", action, name="launching")
    assert line.verdict().state == "failed"
    verdict = act(line.wait(2), PORT, action, ended=True, failed=True).verdict()
    assert (verdict.state, verdict.summary, verdict.cause) == ("failed", known.summary, known.cause)
    assert HERE not in said(verdict)


@pytest.mark.parametrize("ended", [False, True])
def test_nor_does_what_somebody_else_begins_then(ended: bool) -> None:
    line = silently_gone().wait(540)
    act(line, "It goes on.", "restart", who="ann@laptop", since=line.now - 2, ended=ended, failed=ended)
    assert line.verdict().state == "failed"


def test_a_launch_of_what_was_kept_takes_nothing_from_the_restart_that_had_stopped_it() -> None:
    line = act(server(), "SIGTERM sent.", "restart", name="stopping").wait(2).kill(None).kill(0).kill(1).sample()
    act(line.wait(1), "It waits for the port.", "restart", ended=True, failed=True).wait(540)
    act(line, "Launching it again.", "restart", name="launching").wait(1)
    assert line.verdict().summary == "Stopped: it is being restarted from this console. Launching it again."
    act(line, PORT, "restart", ended=True, failed=True)
    assert line.verdict().summary == f"Stopped, but the restart from this console has failed: {PORT}"


def test_what_became_of_a_stop_is_told_after_the_end_as_of_when_it_was_begun() -> None:
    """Nobody heard of it before: the rank that went first follows it all the same."""
    line = server()
    since = line.now
    line.wait(2).kill(1).sample().wait(9).kill(0).kill(None).sample().wait(2)
    act(line, "The stop of it that was cut off is done.", ended=True, since=since)
    assert line.verdict().state == "stopped"


def test_the_end_of_a_lost_connection_is_of_its_doing_still() -> None:
    assert lost_connection().verdict().state == "stopped"
