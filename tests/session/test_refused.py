"""What was refused before anything was done to the server explains no later end of it, however soon that comes."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import nullcontext
from pathlib import Path
from typing import cast

import pytest
from fakehost import running
from waiting import alive, eventually

from bringup.core.action import CLAIMED, REFUSED
from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost
from bringup.core.events import Server
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Busy, Claim, Step
from bringup.hosts.control.steps import Report
from bringup.hosts.local import LocalHost
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.session import Session
from bringup.session.target import Target

HOST = cast(Host, object())
PLAN = StopPlan("gpu-a", Server(pid=100, start=1, engine="sglang", argv=("python",)), "", ())
KEEPS = Step("Keeping its command.", name=CLAIMED)
ASKS = Step("SIGTERM sent to python (PID 100).", name="stopping")


@pytest.mark.parametrize(
    ("error", "steps", "name", "touches"),
    [
        (Busy("A stop is under way by root@x.", "Nothing was done."), (), REFUSED, False),
        (BringupError("Port 8000 is held.", "Nothing was done."), (KEEPS,), REFUSED, False),
        (ChannelRefused("We may not signal it. Nothing was done.", reason="denied"), (KEEPS,), REFUSED, False),
        (ChannelRefused("Whether SIGTERM has reached it is not known.", reason="timeout"), (KEEPS,), "", True),
        (ConnectionLost("It is gone."), (KEEPS,), "", True),
        (BringupError("1 process still runs. Nothing was launched."), (KEEPS, ASKS), "", True),
        (RuntimeError("a defect"), (), "", True),
    ],
)  # fmt: skip
async def test_one_is_told_as_refused_where_nothing_was_done(
    error: Exception, steps: tuple[Step, ...], name: str, monkeypatch: pytest.MonkeyPatch, *, touches: bool
) -> None:
    async def claim(*_: object, **__: object) -> Claim:
        return Claim("/tmp/a", "ours")

    async def restart(*_: object, report: Report, **__: object) -> None:
        for step in steps:
            report(step)
        raise error

    monkeypatch.setattr(control, "claim", claim)
    monkeypatch.setattr(control, "restart", restart)
    monkeypatch.setattr(control, "held", lambda *_: nullcontext())
    picture = Picture("gpu-a")
    known = cast(Knowledge, type("Known", (), {"engines": (), "is_engine": lambda _: False}))
    with pytest.raises(type(error)):
        await Actions(Target("gpu-a"), picture, HostClock(), known).restart(HOST, PLAN)
    state = picture.state
    assert state.action is not None
    assert (state.action.name, state.action.ended, state.action.failed) == (name, True, True)
    assert (state.acted is not None) == touches


async def test_a_server_that_is_killed_after_a_refused_restart(tmp_path: Path, knowledge: Knowledge) -> None:
    async def connect() -> Host:
        return LocalHost("box")

    words = ("--model-path", "/models/kimi", "--port", "30140", "--tp", "2")
    log = (tmp_path / "server.log").open("ab")
    with log, socket.socket() as taken, running(tmp_path, 2, words, stdout=log, stderr=log) as tree:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        tree.become_ranks()
        session = Session(connect, Target("box", port=30140, within=os.getpid()), knowledge)
        await session.open()
        try:
            await eventually(lambda: session.state.server is not None and len(session.state.processes) >= 3)
            plan = await session.plan()
            used = str(taken.getsockname()[1])
            with pytest.raises(BringupError, match="Nothing was done"):
                await session.restart(plan, tuple(used if word == "30140" else word for word in plan.argv))
            assert alive(tree.pid)
            tree.process.kill()
            for child in tree.children:
                child.do("leave")
            await eventually(lambda: session.state.gone_at is not None)
            await asyncio.sleep(1.5)
            verdict = session.verdict()
            assert verdict.cause is not None
            said = f"{verdict.summary} {verdict.cause.line} {verdict.cause.advice}"
            assert "the launcher ended without an error line" in said
            for word in ("this console", "restart", used, "is kept"):
                assert word not in said
        finally:
            await session.close()
