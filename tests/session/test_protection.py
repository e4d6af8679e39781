"""What a read-only target protects is protected in a session too, by what is found: keys go, and nothing is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from bringup.config.guards import Guard, Subject
from bringup.core.errors import UsageError
from bringup.core.events import Process, Server, ServerFound
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Claim, LaunchCommand, Orphan, Unfinished
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.fleet import Fleet
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.protection import Protection
from bringup.session.session import Session
from bringup.session.target import Target

HOST = cast(Host, object())
GUARD = Guard("production", "/c.toml, line 4", port=8000)
MEMBER = Process(pid=100, ppid=1, start=1, title="python", comm="python", state="S")
COMMAND = LaunchCommand("serve", "", {}, "")
KNOWN = cast(Knowledge, type("Known", (), {"engines": ()}))


class Touched(Exception):
    """Something would have been done on the host."""


def server(port: int | None) -> Server:
    return Server(pid=100, start=1, engine="vllm", argv=("vllm",), port=port)


def plan(port: int | None) -> StopPlan:
    return StopPlan(node="gpu-b", server=server(port), command="vllm", members=(MEMBER,))


def left(port: int, **more: Any) -> Unfinished:
    about = f"the vllm server (PID 100) on port {port}"
    return Unfinished(Claim("/tmp/b", "x"), "restart", "killing", about, (100, 1), port=port, **more)


def acting(monkeypatch: pytest.MonkeyPatch, port: int | None = None) -> tuple[Actions, Picture]:
    """Return the actions of a watch that is narrowed to a port, on a host on which a read-only target is."""

    async def touched(*_: object, **__: object) -> None:
        raise Touched

    for name in ("claim", "claim_a_stop", "launch", "resume", "discard", "clear"):
        monkeypatch.setattr(control, name, touched)
    picture = Picture("gpu-b")
    return Actions(Target("gpu-b", port=port, guards=(GUARD,)), picture, HostClock(), KNOWN), picture


Doing = Callable[[Actions], Awaitable[object]]
ON_PRODUCTION: dict[str, Doing] = {
    "stop": lambda actions: actions.stop(HOST, plan(8000)),
    "restart": lambda actions: actions.restart(HOST, plan(8000)),
    "of unknown port": lambda actions: actions.stop(HOST, plan(None)),
    "resume": lambda actions: actions.resume(HOST, left(8000)),
    "discard": lambda actions: actions.discard(HOST, left(8000)),
    "launch": lambda actions: actions.launch(HOST, "kimi", COMMAND),
    "clear": lambda actions: actions.clear(HOST, [Orphan(MEMBER, "vllm")]),
}
ON_ANOTHER: dict[str, Doing] = {
    "stop": lambda actions: actions.stop(HOST, plan(8001)),
    "restart": lambda actions: actions.restart(HOST, plan(8001)),
    "resume": lambda actions: actions.resume(HOST, left(8001)),
    "discard": lambda actions: actions.discard(HOST, left(8001)),
    "what is over": lambda actions: actions.discard(HOST, left(8000, new=(200, 2), new_alive=True)),
}


@pytest.mark.parametrize("name", ON_PRODUCTION)
async def test_the_host_alone_was_named_and_production_is_meant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    actions, _ = acting(monkeypatch)
    with pytest.raises(UsageError, match="production is read-only") as refused:
        await ON_PRODUCTION[name](actions)
    assert "[targets.production], /c.toml, line 4," in refused.value.hint


@pytest.mark.parametrize("name", ON_ANOTHER)
async def test_another_server_of_the_host_is_not_protected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    actions, _ = acting(monkeypatch)
    with pytest.raises(Touched):
        await ON_ANOTHER[name](actions)


@pytest.mark.parametrize("name", ["launch", "clear"])
async def test_where_another_port_was_named_all_is_about_that(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    actions, _ = acting(monkeypatch, port=8001)
    with pytest.raises(Touched):
        await ON_PRODUCTION[name](actions)
    with pytest.raises(UsageError):
        await ON_PRODUCTION["stop"](actions)


@pytest.mark.parametrize(("port", "why"), [(None, "production is read-only"), (8001, "")])
async def test_orphans_say_that_they_may_be_production_s(
    port: int | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(*_: object, **__: object) -> tuple[Orphan, ...]:
        return (Orphan(MEMBER, "vllm"), Orphan(MEMBER, "vllm", why_not="It is another user's."))

    monkeypatch.setattr(control, "orphans", found)
    first, second = await acting(monkeypatch, port)[0].orphans(HOST)
    assert why in first.why_not
    assert bool(first.why_not) is bool(why)
    assert second.why_not == "It is another user's."


def session(**more: Any) -> Session:
    async def connect() -> Host:
        return HOST

    return Session(connect, Target("gpu-b", **more), Knowledge((), cast(Any, None), cast(Any, None)))


def see(watched: Session, port: int | None) -> None:
    watched._picture.apply([ServerFound(at=1.0, server=server(port))])


def test_the_console_is_read_only_as_long_as_it_shows_what_is_protected() -> None:
    watched = session(guards=(GUARD,))
    assert watched.read_only, "nobody knows yet what will be found"
    see(watched, 8001)
    assert not watched.read_only
    see(watched, 8000)
    assert watched.read_only
    assert "production is read-only" in watched.why_read_only
    assert not session(guards=(GUARD,), port=8001).read_only
    assert not session().read_only
    assert session(read_only=True).why_read_only.startswith("This is watched read-only")
    assert session().why_read_only == ""


def test_a_node_behind_the_head_one_may_be_of_any_server_unless_it_was_given_a_port() -> None:
    protection = Protection(guards=(GUARD,), named=Subject(port=30000))
    node = replace(server(30000), node_rank=1)
    assert protection.of_server(node) is not None
    assert protection.of_server(replace(node, argv=("vllm", "--port=30000"))) is None
    assert protection.of_server(replace(node, node_rank=0)) is None


def test_a_fleet_is_read_only_where_one_of_its_nodes_is() -> None:
    nodes = [("node1", session()), ("node2", session(guards=(replace(GUARD, port=None),)))]
    fleet = Fleet(nodes)
    assert fleet.read_only
    assert "all of this host" in fleet.why_read_only
    assert not Fleet(nodes[:1]).read_only
