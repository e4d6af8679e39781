"""A stop from the session: parts of the server are no servers, and the record of the restart before it is ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

import pytest

from bringup.core.events import Process, Server, ServerFound, ServerGone
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Claim, Stopped, Unfinished
from bringup.hosts.discover import Discovery
from bringup.session import finder
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.finder import Finder
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.search import Search
from bringup.session.server_watch import Channels
from bringup.session.stopped_parts import parts_of, settled_by
from bringup.session.target import Target

HOST = cast(Host, object())
SERVER = Server(pid=200, start=9, engine="sglang", argv=("python",))
WORKER = Server(pid=201, start=10, engine="sglang", argv=("python",))
PLAN = StopPlan("gpu-a", SERVER, "", (Process(200, 1, 9, "python"), Process(201, 200, 10, "python")))
RESTART = Unfinished(Claim("/tmp/a", "theirs"), "restart", "launched", "the server", (100, 1), new=(200, 9))


@pytest.fixture
def actions(monkeypatch: pytest.MonkeyPatch) -> tuple[Actions, list[Unfinished]]:
    """What acts on a host where every stop goes well, and what it forgets there."""
    discarded: list[Unfinished] = []

    async def claim(*_: object, **__: object) -> Claim:
        return Claim("/tmp/b", "ours")

    @asynccontextmanager
    async def held(*_: object) -> AsyncIterator[None]:
        yield

    async def stop(*_: object, **__: object) -> Stopped:
        return Stopped(ended=PLAN.members)

    async def release(*_: object) -> None:
        pass

    async def everything(*_: object, **__: object) -> tuple[Unfinished, ...]:
        return (RESTART,)

    async def discard(_: Host, left: Unfinished) -> None:
        discarded.append(left)

    for name, stand_in in (
        *(("claim_a_stop", claim), ("held", held), ("stop", stop), ("release", release)),
        *(("all_unfinished", everything), ("discard", discard)),
    ):
        monkeypatch.setattr(control, name, stand_in)
    return Actions(Target("gpu-a"), Picture("gpu-a"), HostClock(), Knowledge((), None, None)), discarded  # type: ignore[arg-type]


async def test_a_stop_of_the_new_server_ends_the_record_of_its_restart(
    actions: tuple[Actions, list[Unfinished]],
) -> None:
    acting, discarded = actions
    await acting.stop(HOST, PLAN)
    assert discarded == [RESTART]
    assert acting.ended == {(201, 10)}


@pytest.mark.parametrize("is_part", [True, False])
async def test_a_part_of_what_was_stopped_is_not_taken_for_a_server(
    monkeypatch: pytest.MonkeyPatch, *, is_part: bool
) -> None:
    async def found(*_: object, **__: object) -> Discovery:
        return Discovery((WORKER,), "")

    monkeypatch.setattr(finder, "discover", found)
    monkeypatch.setattr(Search, "begin", lambda *_, **__: None)
    monkeypatch.setattr(Finder, "_begin_watch", lambda *_: None)
    picture, clock = Picture("gpu-a"), HostClock()
    picture.apply([ServerFound(at=1.0, server=SERVER), ServerGone(at=2.0, pid=SERVER.pid)])
    knowledge = Knowledge((), None, None)  # type: ignore[arg-type]
    channels = Channels(picture, clock, Logs(picture, knowledge, clock), knowledge)
    ended = frozenset({(WORKER.pid, WORKER.start)} if is_part else ())
    watching = Finder(Target("gpu-a"), channels, lambda: ended)
    async with asyncio.TaskGroup() as group:
        await watching._round(HOST, group)
    assert picture.state.server == (SERVER if is_part else WORKER)


def test_what_ends_with_a_server_is_no_server_of_its_own() -> None:
    assert parts_of(PLAN) == {(201, 10)}


def test_a_stop_ends_the_record_of_the_restart_that_had_brought_it_up() -> None:
    shell = replace(RESTART, new=(201, 10))
    others = (replace(RESTART, new=(300, 1)), replace(RESTART, new=None), replace(RESTART, busy=True))
    assert settled_by((RESTART, shell, *others), PLAN) == (RESTART, shell)
