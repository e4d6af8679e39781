"""`bringup stop` where no server is, and a part of one lives on."""

from __future__ import annotations

from typing import cast

import pytest
from ui.acts import cut

from bringup.cli.acting import planned_rest
from bringup.core.events import Process, Server
from bringup.session.console import StopPlan, Unfinished
from bringup.session.session import Session


class Left:
    """A session of a host on which something was left."""

    def __init__(self, left: Unfinished | None) -> None:
        self.left = left

    async def unfinished(self) -> Unfinished | None:
        return self.left

    async def plan(self, left: Unfinished) -> StopPlan:
        parts = tuple(Process(pid=pid, ppid=1, start=start, title="worker") for pid, start in left.alive)
        return StopPlan("gpu-a", Server(pid=100, start=1, engine="sglang", argv=()), "", parts)


async def test_the_rest_of_a_stop_that_was_cut_off_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    left = cut(action="stop", step="stopping", alive=((4242, 7),), kept=False)
    plan = await planned_rest(cast(Session, Left(left)))
    assert plan is not None
    assert [member.pid for member in plan.members] == [4242]
    assert "a part of the old server still runs (PID 4242)" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("more", [{"alive": ()}, {"busy": True}, {"kept": True}])
async def test_where_there_is_none_or_it_is_not_to_be_given_up_nothing_is(more: dict[str, object]) -> None:
    left = cut(**{"action": "restart", "alive": ((4242, 7),), "kept": False, **more})
    assert await planned_rest(cast(Session, Left(left))) is None
    assert await planned_rest(cast(Session, Left(None))) is None
