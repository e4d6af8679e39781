"""What a lost connection left: the session tells it where it was its own, and keeps to its own where it is confined."""

from __future__ import annotations

from typing import Any, cast

import pytest

from bringup.core.errors import ConnectionLost
from bringup.core.events import Server
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Claim, Unfinished
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture

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
    return Actions("gpu-a", picture, HostClock(), cast(Knowledge, None), within=within), picture


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
