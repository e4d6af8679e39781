"""A stop that somebody else ordered from another console: it explains the end of the server, and nothing else does."""

from __future__ import annotations

from typing import Any

from timeline import ROOT, START, Timeline

from bringup.core.events import ActionStep, ServerGone

WHO = "root@vm"


def theirs(line: Timeline, **more: Any) -> ActionStep:
    values: dict[str, Any] = {
        "action": "stop",
        "step": "It is asked to end.",
        "who": WHO,
        "since": line.now - 3,
        **more,
    }
    return ActionStep(at=line.now, **values)


def ended() -> Timeline:
    """A server that has ended without a word."""
    line = Timeline().found().launch().spawn(2).wait(100)
    return line.add(ServerGone(at=line.now, pid=ROOT)).wait(1)


def test_who_stops_it_takes_the_place_of_the_advice_about_the_out_of_memory_killer() -> None:
    line = ended()
    cause = line.verdict().cause
    assert cause is not None
    assert "OOM killer" in cause.advice
    line.add(theirs(line))
    verdict = line.verdict()
    assert verdict.state == "stopped"
    assert verdict.summary == f"Stopped: it is being stopped by {WHO}. It is asked to end."
    assert verdict.cause is not None
    assert not verdict.cause.advice
    line.wait(2).add(theirs(line, ended=True, step="It is over."))
    verdict = line.verdict()
    assert f"stopped by {WHO}" in verdict.summary
    assert verdict.cause is not None
    assert "on purpose" in verdict.cause.advice
    assert line.state.action is None, "it is no action of this console"


def test_one_that_was_cut_off_is_called_so() -> None:
    line = ended()
    line.add(theirs(line, action="restart", ended=True, failed=True, step="The old server has ended."))
    verdict = line.verdict()
    assert verdict.summary == f"Stopped, but the restart by {WHO} was cut off: The old server has ended."
    assert verdict.cause is not None
    assert "u in the console" in verdict.cause.advice


def test_one_that_was_given_up_explains_no_later_end() -> None:
    line = Timeline().found().launch().spawn(2).wait(100)
    line.add(theirs(line, ended=True, step="It is over.")).wait(60).sample()
    assert line.verdict().state != "stopped"
    line.add(ServerGone(at=line.now, pid=ROOT)).wait(1)
    cause = line.verdict().cause
    assert cause is not None
    assert "OOM killer" in cause.advice


def test_it_is_forgotten_with_the_next_server() -> None:
    line = ended()
    line.add(theirs(line)).wait(5).found(pid=200, start=9, started_at=START + line.t)
    assert line.state.elsewhere is None
