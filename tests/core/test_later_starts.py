"""What comes in the log of a server that has been gone for a while is of a start after it."""

from __future__ import annotations

import pytest
from timeline import Timeline, serving

from bringup.core.events import ActionStep, Ending, Fault

USAGE = "launch_server.py: error: argument --tp: expected one argument"


def ended(wait: float, how: str = "") -> Timeline:
    """Let a server go, and wait for some time since its end was seen."""
    line = serving(2).found().spawn(2).wait(60)
    if how:
        line.ending(how).wait(1)
    return line.kill(0).kill(1).kill(None).sample().wait(wait)


def test_its_error_is_not_the_stopped_ones() -> None:
    before = ended(12)
    known = before.verdict()
    line = before.fault("config", USAGE, line=99)
    verdict = line.verdict()
    assert (verdict.state, verdict.summary, verdict.cause) == (known.state, known.summary, known.cause)
    assert (
        f"an error in log line 99 came after its end and counts to a later start (config): {USAGE}" in verdict.evidence
    )


def test_nor_is_a_signal_that_it_got() -> None:
    line = ended(12).fault("config", USAGE).ending("sigterm")
    assert line.verdict().cause == ended(12).verdict().cause


def test_of_one_that_was_stopped_from_here_nothing_else_is_said() -> None:
    line = serving(2).found().spawn(2).wait(60)
    line.add(ActionStep(at=line.now, action="stop", step="SIGTERM sent.")).wait(2).kill(0).kill(1).kill(None).sample()
    line.add(ActionStep(at=line.now, action="stop", step="It has ended.", ended=True)).wait(30)
    assert line.fault("config", USAGE).verdict().state == "stopped"


@pytest.mark.parametrize("wait", [0.0, 0.3, 4.0])
def test_what_it_said_itself_may_be_read_after_its_end_was_seen(wait: float) -> None:
    verdict = ended(wait).fault("oom", "CUDA out of memory", rank=0).verdict()
    assert (verdict.state, verdict.cause is not None and verdict.cause.kind) == ("failed", "oom")


def test_so_may_what_was_written_while_nobody_listened() -> None:
    """After a lost connection its end is seen first; the stamps of its log may be in another zone."""
    line = ended(1)
    at = line.now + 3600
    line.add(Fault(at=at, stamp=at, kind="oom", text="CUDA out of memory", line=9))
    line.add(Ending(at=at, stamp=at, how="child-failed"))
    assert line.wait(30).verdict().state == "failed"


def test_a_launch_after_it_leaves_the_error_to_none_before() -> None:
    """It was read between the two: the first had ended well."""
    line = ended(12, "sigterm").fault("config", USAGE).wait(5).launch()
    assert [past.kind for past in line.state.earlier] == [None]


def test_what_that_launch_says_is_its_own_before_its_process_is_found() -> None:
    line = ended(12, "sigterm").launch().wait(8).fault("oom", "CUDA out of memory", rank=0)
    verdict = line.verdict()
    assert (verdict.state, verdict.cause is not None and verdict.cause.kind) == ("failed", "oom")


def test_nor_does_a_server_that_is_found_after_it() -> None:
    line = ended(12).fault("config", USAGE).wait(5)
    line.found(pid=7, start=7, started_at=line.now - 1)
    assert [past.kind for past in line.state.earlier] == [None]
