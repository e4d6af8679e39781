"""Stops and restarts from this console that are refused, given up or cut off, for tests of what they explain."""

from __future__ import annotations

from timeline import ROOT, Timeline, serving

from bringup.core.action import REFUSED
from bringup.core.events import ActionStep, KernelLine, KernelSaid
from bringup.core.verdict import Verdict

BUSY = "A stop of PID 100 on gpu-a is under way by root@x. Nothing was done."
LEFT = "1 process still runs (PID 100). Nothing was killed."
HERE = "this console"


def server() -> Timeline:
    return serving(2).found().spawn(2).wait(60)


def act(line: Timeline, step: str, action: str = "stop", **more: object) -> Timeline:
    return line.add(ActionStep(at=line.now, action=action, step=step, **more))  # type: ignore[arg-type]


def refused(action: str = "stop") -> Timeline:
    return act(server(), BUSY, action, ended=True, failed=True, name=REFUSED)


def given_up() -> Timeline:
    """A gentle stop, after which nothing was killed."""
    line = act(server(), "SIGTERM sent to python (PID 100).", name="stopping").wait(300)
    return act(line, LEFT, ended=True, failed=True)


def killed(line: Timeline) -> Timeline:
    """Let the kernel end the launcher, and say so."""
    oom = KernelLine(at=line.now, kind="oom", text=f"Out of memory: Killed process {ROOT} (python3)", pid=ROOT)
    return line.add(KernelSaid(at=line.now, lines=(oom,))).kill(None).kill(0).kill(1).sample().wait(2)


def said(verdict: Verdict) -> str:
    assert verdict.cause is not None
    return f"{verdict.summary} {verdict.cause.line} {verdict.cause.advice}"


def lost_connection() -> Timeline:
    """A stop whose connection is lost in the middle; the server ends while nobody can look."""
    line = act(server().sample(), "SIGTERM sent to python (PID 100).", name="stopping").wait(1).sample().wait(1)
    act(line, "The connection was lost in the middle: It is gone.", ended=True, failed=True).wait(40)
    return line.kill(None).kill(0).kill(1).sample()
