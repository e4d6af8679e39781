"""What a lost connection left: the session tells it where it was its own, and keeps to its own where it is confined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from bringup.core.assess import assess
from bringup.core.errors import ConnectionLost
from bringup.core.events import Fault, Server, ServerGone
from bringup.core.fold import fold
from bringup.core.state import State
from bringup.engines.patience import load_policy
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Claim, Step, Unfinished
from bringup.session import left_over
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.target import Target

HOST = cast(Host, object())
THEIRS = Unfinished(Claim("/tmp/a", "theirs"), "restart", "waiting", "the vllm server (PID 7)", (7, 1), age=4000)
PLAN = StopPlan(
    node="gpu-a", server=Server(pid=100, start=1, engine="sglang", argv=("python",)), command="", members=()
)


def acting(monkeypatch: pytest.MonkeyPatch, *found: Unfinished, within: int | None = None) -> tuple[Actions, Picture]:
    monkeypatch.setattr(control, "new_token", lambda: "ours")

    async def left(host: Host, *, token: str = "") -> tuple[Unfinished, ...]:
        return found

    monkeypatch.setattr(control, "all_unfinished", left)
    picture = Picture("gpu-a")
    return Actions(Target("gpu-a", within=within), picture, HostClock(), cast(Knowledge, None)), picture


def ours(**more: Any) -> Unfinished:
    return Unfinished(Claim("/tmp/b", "ours"), "restart", "killing", "the sglang server (PID 100)", (100, 1), **more)


async def cut(actions: Actions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin a restart whose connection is lost at once."""

    async def lost(*_: object, **__: object) -> Claim:
        raise ConnectionLost("It is gone.")

    monkeypatch.setattr(control, "claim", lost)
    with pytest.raises(ConnectionLost):
        await actions.restart(HOST, PLAN)


async def test_what_was_cut_off_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, picture = acting(monkeypatch, THEIRS, ours())
    await cut(actions, monkeypatch)
    left = await actions.look_back(HOST)
    assert left is not None
    assert left.claim.token == "ours", "before that of another console, though that is the newer one"
    assert picture.state.action is not None
    assert picture.state.action.failed
    assert "was cut off" in picture.state.action.step
    told = picture.state.action
    await actions.look_back(HOST)
    assert picture.state.action is told


async def test_a_restart_that_failed_is_not_called_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, picture = acting(monkeypatch, ours())
    assert await actions.look_back(HOST) is not None
    assert picture.state.action is None


async def test_another_consoles_action_is_no_action_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, picture = acting(monkeypatch, THEIRS)
    assert await actions.look_back(HOST) is THEIRS
    assert picture.state.action is None, "a server that ends later was not stopped from here"


async def test_a_session_that_is_confined_hears_of_its_own_only(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, _ = acting(monkeypatch, THEIRS, within=1)
    assert await actions.look_back(HOST) is None
    actions, _ = acting(monkeypatch, THEIRS, ours(), within=1)
    left = await actions.look_back(HOST)
    assert left is not None
    assert left.claim.token == "ours"


@pytest.mark.parametrize("step", ["launching", "launched", "starting", "failed"])
def test_a_first_launch_is_not_called_another_one(step: str) -> None:
    first = replace(ours(), action="launch", step=step, about="the target kimi", server=(0, 5))
    assert "again" in replace(first, action="restart").doing
    for said in (first.doing, replace(first, busy=True).sentence, first.sentence.partition(";")[0]):
        assert said
        assert "again" not in said


def of_port(port: int, pid: int = 7) -> Unfinished:
    about = f"the vllm server on port {port} (PID {pid})"
    return Unfinished(Claim(f"/tmp/{pid}", "theirs"), "restart", "waiting", about, (pid, 1), port=port, age=40)


def test_a_narrowed_watch_leaves_other_servers_to_others() -> None:
    found = (of_port(8000), of_port(30000, 9))
    choose = left_over.choose
    assert choose(found, State(), token="ours") is found[0]
    assert choose(found, State(), token="ours", narrowed=(30000, None)) is found[1]
    assert choose(found, State(), token="ours", narrowed=(None, 9)) is found[1]
    assert choose(found, State(), token="ours", narrowed=(1, None)) is None


def test_what_is_of_the_watched_server_comes_before_what_is_newer() -> None:
    found = (of_port(8000), of_port(30000, 9))
    watched = State(server=Server(pid=9, start=1, engine="vllm", argv=(), port=30000))
    assert left_over.choose(found, watched, token="ours") is found[1]
    assert not left_over.concerns(found[0], watched)


async def test_every_change_of_what_was_ours_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, picture = acting(monkeypatch, ours(alive=((100, 1),)))
    await cut(actions, monkeypatch)
    await actions.look_back(HOST)
    assert picture.state.action is not None
    assert "the old server still runs" in picture.state.action.step

    async def later(host: Host, *, token: str = "") -> tuple[Unfinished, ...]:
        return (ours(kept=True),)

    monkeypatch.setattr(control, "all_unfinished", later)
    await actions.look_back(HOST)
    assert "no server runs" in picture.state.action.step


async def test_a_launch_that_still_goes_on_has_not_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, picture = acting(monkeypatch, replace(ours(busy=True), step="launching"))
    await cut(actions, monkeypatch)
    await actions.look_back(HOST)
    action = picture.state.action
    assert action is not None
    assert (action.ended, action.failed) == (False, False)
    assert "is under way: it is being launched again" in action.step

    async def later(host: Host, *, token: str = "") -> tuple[Unfinished, ...]:
        return (replace(ours(new=(200, 9), new_alive=True), step="launched"),)

    monkeypatch.setattr(control, "all_unfinished", later)
    await actions.look_back(HOST)
    action = picture.state.action
    assert action is not None
    assert (action.ended, action.failed) == (True, False)


async def test_where_nothing_is_left_of_one_that_was_cut_off_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, picture = acting(monkeypatch)
    await cut(actions, monkeypatch)
    assert await actions.look_back(HOST) is None
    assert picture.state.action is not None
    assert picture.state.action.step.startswith("Nothing of the restart is left over on the host")


async def test_a_server_that_failed_is_not_said_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = replace(THEIRS, step="failed", new=(200, 9), status="2", said="no such flag")
    actions, picture = acting(monkeypatch, failed)
    for _ in range(2):
        await actions.look_back(HOST)
    assert picture.state.gone_at is not None
    assert [fault.text for fault in picture.state.attempt.faults] == ["no such flag"]


async def test_every_step_is_heard_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, _ = acting(monkeypatch)
    heard: list[str] = []
    actions.heard = heard.append
    for step in ("one", "two", "three"):
        actions.tell("stop", Step(step))
    actions.tell("stop", Step("done"), ended=True)
    assert heard == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("left", "port", "stands"),
    [
        ({"busy": True, "port": 8000}, 8000, True),
        ({"busy": True, "port": 8000}, 8001, False),
        ({"busy": True, "port": 8000}, None, True),
        ({"busy": True}, 8000, True),
        ({"busy": True, "action": "launch", "about": "the target kimi"}, 8000, True),
        ({"kept": True}, 8000, True),
        ({"command": "docker start llm"}, 8000, True),
        ({}, 8000, False),
        ({"busy": True, "action": "stop"}, 8000, False),
        ({"new": (9, 1), "new_alive": True}, 8000, False),
    ],
)
def test_what_stands_against_a_launch(left: dict[str, Any], port: int | None, *, stands: bool) -> None:
    theirs = replace(THEIRS, **left)
    # What stands against nothing hides nothing.
    stop = replace(THEIRS, action="stop", busy=True)
    assert left_over.in_the_way((stop, theirs), port) == (theirs if stands else None)


async def test_of_a_failed_restart_the_last_line_is_told_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = "usage: launch_server.py [--chat-template CHAT_TEMPLATE] " + " ".join(f"[--option-{n}]" for n in range(30))
    error = "launch_server.py: error: argument --served-model-name: expected one argument"
    left = replace(THEIRS, step="failed", status="2", said=f"{usage} / {error}", new=(9, 9))
    actions, picture = acting(monkeypatch, left)
    await actions.look_back(HOST)
    verdict = assess(picture.state, picture.state.gone_at or 0.0, load_policy())
    assert verdict.summary == f"Failed while starting up: {error}."


def test_a_sentence_ends_with_a_whole_word() -> None:
    fault = Fault(at=1.0, kind="unknown", text="word " * 60)
    summary = assess(fold(State(), [ServerGone(at=1.0, pid=7), fault]), 2.0, load_policy()).summary
    assert summary.startswith("Failed while starting up: word word")
    assert summary.endswith("word ….")


def test_who_gives_no_sign_any_more_is_said_to_be_soon_cut_off() -> None:
    stop = replace(THEIRS, action="stop", busy=True, age=4)
    assert left_over.under_way(stop) == stop.sentence
    silent = replace(stop, age=22)
    assert left_over.under_way(silent) == f"{silent.sentence} {silent.takeover}"
    assert "counts as cut off in 8 s" in silent.takeover
