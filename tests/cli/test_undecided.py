"""`bringup restart` where what had started the server may start it again: it is asked, or said what can be done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from bringup.cli import acting, left_over, run
from bringup.cli.telling import Doing
from bringup.core.errors import BringupError, UsageError
from bringup.core.events import Process, Server
from bringup.core.state import State
from bringup.hosts.control import Claim, LeftToAnother, Stopped, Unfinished
from bringup.session.console import StopPlan
from bringup.session.session import Session

SCRIPT = Process(pid=70, ppid=1, start=1, title="bash run.sh", comm="bash")
STOPPED = Stopped(supervised=True, starters=(SCRIPT,))
UNDECIDED = LeftToAnother("The server on box was stopped; PID 70 may start it again.", STOPPED)
LEFT = Unfinished(Claim("/tmp/b", "x"), "restart", "waiting", "the server", (100, 1), kept=True)
PLAN = StopPlan("box", Server(pid=100, start=1, engine="sglang", argv=("python",)), "python", ())
DOING = Doing("restart", "box", 30000)


class Asked:
    """A session of which only the question after the stop is needed."""

    def __init__(self, left: Unfinished = LEFT) -> None:
        self.left = left
        self.state = State(node="box")
        self.resumed = 0

    async def restart(self, plan: StopPlan) -> None:
        raise UNDECIDED

    async def unfinished(self) -> Unfinished:
        return self.left

    async def resume(self, left: Unfinished) -> None:
        self.resumed += 1


async def carried_out(
    monkeypatch: pytest.MonkeyPatch, *, yes: bool, answer: bool, force: bool = False, left: Unfinished = LEFT
) -> Asked:
    async def follow(work: Any, session: object, doing: object) -> None:
        await work

    monkeypatch.setattr(left_over, "follow", follow)
    monkeypatch.setattr(left_over, "confirmed", lambda *asked: answer)
    session = Asked(left)
    order = acting.Order("restart", yes, read_only=False, force=force)
    await acting._carry_out(order, cast(Session, session), PLAN, DOING)
    return session


async def test_at_a_terminal_it_is_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert (await carried_out(monkeypatch, yes=False, answer=True)).resumed == 1
    assert "PID 70 may start it again" in capsys.readouterr().err


async def test_no_launches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LeftToAnother):
        await carried_out(monkeypatch, yes=False, answer=False)


async def test_without_a_question_it_is_said_what_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BringupError, match=r"PID 70 may start it again.*--port 30000 --yes --force` launches it"):
        await carried_out(monkeypatch, yes=True, answer=True)


@pytest.mark.parametrize(("yes", "force"), [(False, False), (True, True)])
async def test_where_it_is_started_again_for_sure_nothing_is_asked_or_launched(
    yes: bool, force: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = replace(LEFT, respawns=True)
    with pytest.raises(BringupError, match="PID 70 may start it again") as told:
        await carried_out(monkeypatch, yes=yes, answer=True, force=force, left=left)
    assert not isinstance(told.value, LeftToAnother), "it is said what can be done"


def test_options_change_the_plan() -> None:
    launcher = replace(PLAN.server.launcher, stop="docker stop -t {drain} llm")
    plan = replace(PLAN, server=replace(PLAN.server, launcher=launcher))
    changed = acting._change("1m30s", force=True)(plan)
    assert (changed.drain, changed.stop_command, changed.regardless) == (90.0, "docker stop -t 90 llm", True)
    assert acting._change(None)(plan) == plan


@pytest.mark.parametrize("command", ["stop", "restart"])
def test_a_drain_that_is_no_duration(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        acting._change("soon")
    assert run([command, "--yes", "--drain", "soon"]) == 2
    assert "--drain takes a duration" in capsys.readouterr().err


@pytest.mark.parametrize(("yes", "force", "launches"), [(True, False, 0), (True, True, 1), (False, False, 1)])
async def test_a_second_restart_is_no_answer_where_it_may_be_started_again(
    yes: bool, force: bool, launches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def follow(work: Any, session: object, doing: object) -> None:
        await work

    monkeypatch.setattr(left_over, "follow", follow)
    monkeypatch.setattr(left_over, "confirmed", lambda *asked: True)
    session = Asked(replace(LEFT, step="undecided"))
    going = left_over.go_on(cast(Session, session), "box", yes=yes, read_only=False, force=force)
    if launches:
        assert await going
    else:
        with pytest.raises(BringupError, match="--force"):
            await going
    assert session.resumed == launches
