"""A process that ends at once in the operator's own launch was not killed by something outside."""

from __future__ import annotations

import pytest
from timeline import ROOT, Timeline, serving

from bringup.core.events import ActionStep, ServerGone
from bringup.core.verdict import Verdict

SAID = (
    "The new server on gpu-a ended at once with exit status 1: File serve.py, line 9 / main() / "
    "ValueError: unknown --quantization. See /var/log/server.log."
)
KILLER = "OOM killer"


def step(line: Timeline, text: str, **more: object) -> Timeline:
    return line.add(ActionStep(at=line.now, action="restart", step=text, **more))  # type: ignore[arg-type]


def relaunched() -> Timeline:
    """Stop a server by a restart, and let the new process come and end."""
    line = step(serving(2).found().spawn(2), "SIGTERM sent.").wait(2).kill(0).kill(1).kill(None).sample().wait(1)
    step(line, "Launching it again.").wait(1)
    line.found(pid=7, start=7, started_at=line.now - 0.5)
    return line.wait(1).add(ServerGone(at=line.now, pid=7))


def said(verdict: Verdict) -> str:
    assert verdict.cause is not None
    return f"{verdict.summary} {verdict.cause.line} {verdict.cause.advice}"


def test_what_its_launch_has_said_is_why() -> None:
    line = step(relaunched().wait(1), SAID, ended=True, failed=True)
    verdict = line.verdict(after=60.0)
    assert verdict.state == "failed"
    assert verdict.cause is not None
    assert verdict.cause.kind == "unknown"
    assert "exit status 1: ValueError: unknown --quantization" in verdict.summary
    assert KILLER not in said(verdict)


def test_while_that_is_not_known_nothing_is_guessed() -> None:
    verdict = relaunched().verdict()
    assert verdict.state == "failed"
    assert "the new server has ended at once" in verdict.summary
    assert KILLER not in said(verdict)


def test_one_that_was_launched_well_and_goes_later_is_another_matter() -> None:
    line = step(serving(2).found().spawn(2), "SIGTERM sent.").wait(2).kill(0).kill(1).kill(None).sample().wait(1)
    line.found(pid=7, start=7, started_at=line.now)
    step(line.wait(1), "Launched again as PID 7.", ended=True).wait(60).add(ServerGone(at=line.now, pid=7))
    assert KILLER in said(line.verdict())


@pytest.mark.parametrize("later", [5.0, 600.0])
def test_so_is_one_that_somebody_starts_afterwards(later: float) -> None:
    line = step(relaunched().wait(1), SAID, ended=True, failed=True).wait(later)
    line.found(pid=8, start=8, started_at=line.now).wait(5).add(ServerGone(at=line.now, pid=8))
    assert KILLER in said(line.verdict())


def test_and_one_that_was_there_before() -> None:
    """Launched beside it was something else."""
    line = serving(2).found().spawn(2).wait(5)
    line.add(ActionStep(at=line.now, action="launch", step=SAID, ended=True, failed=True)).wait(60)
    line.add(ServerGone(at=line.now, pid=ROOT))
    assert "quantization" not in said(line.verdict())
