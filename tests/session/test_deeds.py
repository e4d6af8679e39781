"""What the operator does is written down as it begins and ends, whatever comes of it, and never waits for the disk."""

from __future__ import annotations

import asyncio
import getpass
import os
import threading
from contextlib import nullcontext
from typing import Any, cast

import pytest

from bringup.core.errors import BringupError, ConnectionLost, UsageError
from bringup.core.events import Process, Server
from bringup.core.state import State
from bringup.history.actions import ActionRow
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Claim, LaunchCommand, Orphan, Started, Step, Unfinished
from bringup.hosts.control.steps import Report
from bringup.session.acting import who
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.deeds import Write
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.target import Target

HOST = cast(Host, object())
MEMBER = Process(pid=100, ppid=1, start=1, title="python", comm="python", state="S")
PLAN = StopPlan(
    node="gpu-a",
    server=Server(pid=100, start=1, engine="sglang", argv=("python",)),
    command="python --api-key '***'",
    members=(MEMBER,),
)
LEFT = Unfinished(Claim("/tmp/b", "x"), "restart", "killing", "the sglang server (PID 100)", (100, 1))
COMMAND = LaunchCommand("run --token very-secret-word", "", {}, "")


class Stopped:
    complete, sentence = True, "All of it has ended."


def acting(
    write: Write | None, monkeypatch: pytest.MonkeyPatch, raises: Exception | None = None, **more: Any
) -> Actions:
    """Return the actions on a host on which everything succeeds at once, or fails."""

    def at_once(value: object) -> Any:
        async def do(*_: object, **__: object) -> object:
            await asyncio.sleep(0)
            if raises is not None:
                raise raises
            return value

        return do

    async def claimed(*_: object, **__: object) -> Claim:
        return LEFT.claim

    started = Started(200, 2)
    for name, value in {"restart": started, "launch": started, "resume": started, "stop": Stopped(), "clear": Stopped(),
                        "discard": None, "all_unfinished": ()}.items():  # fmt: skip
        monkeypatch.setattr(control, name, at_once(value))
    for name in ("claim", "claim_a_stop", "release"):
        monkeypatch.setattr(control, name, claimed)
    monkeypatch.setattr(control, "held", lambda *_: nullcontext())
    knowledge = cast(Knowledge, type("Known", (), {"engines": (), "is_engine": lambda _: False}))
    return Actions(Target("gpu-a", **more), Picture("gpu-a"), HostClock(), knowledge, write=write)


def everything(actions: Actions) -> dict[str, Any]:
    """Return all that can be done, by the name that the log has for it."""
    return {
        "stop": lambda: actions.stop(HOST, PLAN, "KILL"),
        "restart": lambda: actions.restart(HOST, PLAN),
        "launch": lambda: actions.launch(HOST, "kimi", COMMAND),
        "clear": lambda: actions.clear(HOST, [Orphan(MEMBER, "sglang")]),
        "resume": lambda: actions.resume(HOST, LEFT),
        "discard": lambda: actions.discard(HOST, LEFT),
    }


ALL = ("stop", "restart", "launch", "clear", "resume", "discard")


@pytest.mark.parametrize("name", ALL)
async def test_every_action_is_written_down_with_its_begin_and_its_end(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[ActionRow] = []
    actions = acting(rows.append, monkeypatch)
    await everything(actions)[name]()
    await actions.ledger.finish()
    begun, ended = rows
    assert (begun.outcome, ended.outcome) == ("begun", "done")
    assert (begun.id, begun.at) == (ended.id, ended.at)
    assert (ended.action, ended.target) == (name, "gpu-a")
    assert "@" in ended.who
    assert ended.said
    assert ended.new_pid == (200 if name in ("restart", "launch", "resume") else 0)
    assert ended.pids == ((100,) if name in ("stop", "restart", "clear", "discard") else ())
    assert ended.way == ("KILL" if name == "stop" else "")
    assert ended.what, "what it was about"


@pytest.mark.parametrize("name", ALL)
async def test_read_only_does_none_of_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[ActionRow] = []
    actions = acting(rows.append, monkeypatch, AssertionError("the host was touched"), read_only=True)
    with pytest.raises(UsageError, match="read-only"):
        await everything(actions)[name]()
    await actions.ledger.finish()
    assert rows == []


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(BringupError("2 processes are left."), "failed"), (ConnectionLost("It is gone."), "cut off"),
     (RuntimeError("a defect"), "broken off")],
)  # fmt: skip
@pytest.mark.parametrize("name", ALL)
async def test_what_went_wrong_is_written_down(
    name: str, error: Exception, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[ActionRow] = []
    actions = acting(rows.append, monkeypatch, error)
    with pytest.raises(type(error)):
        await everything(actions)[name]()
    await actions.ledger.finish()
    assert [row.outcome for row in rows] == ["begun", outcome]
    assert rows[-1].said


async def test_what_became_of_one_that_was_cut_off_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[ActionRow] = []
    monkeypatch.setattr(control, "new_token", lambda: LEFT.claim.token)
    actions = acting(rows.append, monkeypatch, ConnectionLost("It is gone."))
    with pytest.raises(ConnectionLost):
        await actions.restart(HOST, PLAN)

    async def left(*_: object, **__: object) -> tuple[Unfinished, ...]:
        return (LEFT,)

    monkeypatch.setattr(control, "all_unfinished", left)
    await actions.look_back(HOST)
    await actions.ledger.finish()
    assert {row.id for row in rows} == {rows[0].id}
    assert (rows[-1].outcome, rows[-1].said) == ("cut off", LEFT.sentence)


async def test_a_disk_that_hangs_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = threading.Event()
    actions = acting(lambda row: stuck.wait(600) and None, monkeypatch)
    try:
        await actions.stop(HOST, PLAN)
        async with asyncio.timeout(60):
            await actions.ledger.finish()
    finally:
        stuck.set()


async def test_a_log_that_cannot_be_written_is_said_once_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(row: ActionRow) -> None:
        raise OSError(28, "No space left on device")

    picture = Picture("gpu-a")
    actions = acting(full, monkeypatch)
    monkeypatch.setattr(actions, "_picture", picture)
    await actions.stop(HOST, PLAN)
    await actions.ledger.finish()
    assert dict(picture.state.closed)["actions"] == "What is done is not written down: No space left on device."
    assert picture.state.action is not None
    assert not picture.state.action.failed


def test_a_user_without_a_name_acts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 54321")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert who().startswith(f"user {os.getuid()}@")


async def test_the_name_of_a_step_reaches_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    actions = acting(None, monkeypatch)
    seen: list[tuple[str, float | None]] = []

    async def stops(*_: object, report: Report, **__: object) -> Stopped:
        report(Step("9 processes still run; SIGKILL in 9 s.", 9.0, "stopping"))
        action = actions._picture.state.action
        assert action is not None
        seen.append((action.name, action.until))
        return Stopped()

    monkeypatch.setattr(control, "stop", stops)
    await actions.stop(HOST, PLAN)
    assert seen[0][0] == "stopping"
    assert seen[0][1] is not None


async def test_where_no_server_is_it_is_said_once_what_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    actions = acting(None, monkeypatch)
    with pytest.raises(BringupError) as raised:
        await actions.plan(HOST, State(seeks="Looking for a launcher of SGLang or vLLM."))
    assert str(raised.value) == "There is no server to stop. Looking for a launcher of SGLang or vLLM."
