"""What became of an action that was cut off is told as of when it was begun, not as of when that is seen."""

from __future__ import annotations

from typing import cast

import pytest

from bringup.core.events import ActionStep, Server, ServerFound
from bringup.history.actions import ActionRow
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Claim, Unfinished
from bringup.session.actions import Actions
from bringup.session.clock import HostClock
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture
from bringup.session.target import Target

CUT = ActionRow(id="a", at=0, who="me", action="stop", target="gpu-a", outcome="cut off")
LEFT = Unfinished(
    Claim("/tmp/a", "ours"), "stop", "stopping", "the sglang server (PID 100)", (100, 1), alive=((100, 1),), age=30,
    began=60,
)  # fmt: skip


@pytest.mark.parametrize("is_left", [True, False])
async def test_it_is_told_as_of_its_begin(monkeypatch: pytest.MonkeyPatch, *, is_left: bool) -> None:
    monkeypatch.setattr(control, "new_token", lambda: "ours")
    clock, picture = HostClock(), Picture("gpu-a")
    known = cast(Knowledge, type("Known", (), {"engines": (), "is_engine": lambda _: False}))
    actions = Actions(Target("gpu-a"), picture, clock, known)
    began = clock.now() - 60
    server = Server(pid=100, start=1, engine="sglang", argv=("python",), started_at=began - 600)
    picture.apply([ServerFound(at=began - 600, server=server)])
    picture.apply([ActionStep(at=began, action="stop", step="SIGTERM sent.", name="stopping")])
    picture.apply([ActionStep(at=began + 2, action="stop", step="Lost.", ended=True, failed=True)])
    actions.finish(CUT)

    async def left(*_: object, **__: object) -> tuple[Unfinished, ...]:
        return (LEFT,) if is_left else ()

    monkeypatch.setattr(control, "all_unfinished", left)
    await actions.look_back(cast(Host, object()))
    told = picture.state.action
    assert told is not None
    assert (told.ended, told.failed) == (True, is_left)
    assert told.since == pytest.approx(began, abs=1.5)
