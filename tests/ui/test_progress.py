"""The rows below the strip of a stop or restart: they speak of the old server, and only while it is the matter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from timeline import ROOT, START, Timeline
from ui.acts import advance, serving
from ui.fakes import FakeConsole

from bringup.core.events import ActionStep, PortSeen, ServerFound, ServerGone
from bringup.core.reduce import reduce
from bringup.session.console import StopPlan
from bringup.ui.paint.evidence import paint_evidence
from bringup.ui.paint.notices import may_hurry, paint_notices
from bringup.ui.paint.row import plain
from bringup.ui.paint.verdict import paint_verdict
from bringup.ui.picture import Picture

ENDED: set[int] = set()


async def planned() -> tuple[FakeConsole, StopPlan]:
    """A server that serves, and what a restart of it touches."""
    console = serving()
    return console, await console.plan()


def strips(console: FakeConsole, plan: StopPlan | None, width: int = 120) -> str:
    """All strips of the moment as text."""
    picture = Picture(console.state, console.verdict(), "box", plan=plan)
    return "\n".join(plain(row).rstrip() for row in paint_notices(picture, width))


def listens(console: FakeConsole, pid: int) -> None:
    """Somebody listens on the server's port."""
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(PortSeen(at=line.now, port=30000, pid=pid))
    console.change(line.state)


@pytest.mark.parametrize("name", ["launching", "launched", "starting"])
async def test_the_port_of_a_server_that_is_being_launched_is_no_obstacle(name: str) -> None:
    console, plan = await planned()
    advance(console, "Launching it again.", pids=ENDED, name=name, action="restart")
    listens(console, 4711)
    assert strips(console, plan).splitlines() == [strips(console, plan)]
    assert "RESTART  Launching it again." in strips(console, plan)


async def test_before_that_a_stranger_on_the_port_is_one() -> None:
    console, plan = await planned()
    advance(console, "Port 30000 is still listened on (by ada).", pids=ENDED, name="waiting", action="restart")
    listens(console, 4711)
    assert "still listened on by PID 4711" in strips(console, plan)


async def test_of_a_server_that_was_started_again_nothing_is_said_as_if_it_were_the_old_one() -> None:
    console, plan = await planned()
    advance(console, "Waiting whether the script starts it again, or ends.", pids=ENDED, name="waiting")
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(ServerFound(at=line.now, server=replace(plan.server, pid=4711, start=999)))
    console.change(line.state)
    assert "still" not in strips(console, plan)
    assert "all have ended" not in strips(console, plan)


@pytest.mark.parametrize(
    ("name", "left", "may"),
    [("stopping", 9.0, True), ("stopping", None, True), ("killing", 9.0, False), ("waiting", 9.0, False)],
)
async def test_a_wait_for_the_server_can_be_cut_short_and_nothing_else(
    name: str, left: float | None, may: bool
) -> None:
    console, plan = await planned()
    advance(console, "1 process still runs.", pids={ROOT}, left=left, name=name)
    assert console.state.action is not None
    assert may_hurry(console.state.action) is may
    assert ("K: kill now?" in strips(console, plan)) is may


async def test_what_only_waits_to_be_reaped_does_not_run_any_more() -> None:
    console, plan = await planned()
    advance(console, "2 processes still run; SIGKILL in 6 s.", left=6.0, pids={103, 105})
    assert "2 of 9 still run" in strips(console, plan)
    state = console.state
    console.change(replace(state, processes=tuple(replace(each, state="Z") for each in state.processes[:1])))
    assert "all have ended" in strips(console, plan)


async def test_where_nobody_can_ask_for_gpu_memory_the_reason_is_said() -> None:
    console, plan = await planned()
    advance(console, "2 processes still run; SIGKILL in 6 s.", left=6.0, pids={103, 105})
    closed = (("gpus", "There is no nvidia-smi on this host."),)
    console.change(replace(console.state, gpu=replace(console.state.gpu, seen_at=None), closed=closed))
    assert "GPU memory not known. There is no nvidia-smi on this host." in strips(console, plan)


async def test_on_a_narrow_screen_what_is_done_is_not_cut_for_how_long_it_has_taken() -> None:
    console, plan = await planned()
    advance(console, "11 processes still run; given up in 298 s, nothing killed.", left=298.0)
    first = strips(console, plan, 80).splitlines()[0]
    assert first == " STOP  11 processes still run; given up in 298 s, nothing killed.  K: kill now?"
    assert "K: kill now? · for 0 s" in strips(console, plan, 120)


async def test_a_restart_that_failed_is_past_once_another_server_was_started() -> None:
    console, plan = await planned()
    line = Timeline(state=console.state, t=console.moment - START)
    line.add(ActionStep(at=line.now, action="restart", step="No such flag.", ended=True, failed=True))
    console.change(line.state)
    assert "RESTART failed No such flag." in strips(console, None)
    line.add(ServerFound(at=line.now, server=replace(plan.server, pid=4711, start=999, started_at=line.now + 9)))
    console.change(line.state)
    assert "failed" not in strips(console, None)


async def test_a_server_that_is_being_stopped_is_not_called_stopped() -> None:
    console, _ = await planned()
    advance(console, "3 processes still run; SIGKILL in 6 s.", left=6.0, pids={100, 103, 105})
    picture = Picture(console.state, console.verdict(), "box")
    assert picture.verdict.state == "stopped"
    assert plain(paint_verdict(picture, 120, 5)[0]).startswith("▌ □ STOPPING  It is being stopped")
    assert plain(paint_evidence(picture, 120)[0]).startswith("▌ □ STOPPING ")
    console.change(reduce(console.state, ServerGone(at=console.now(), pid=ROOT, orphans=(103,))))
    assert plain(paint_verdict(replace(picture, state=console.state), 120, 5)[0]).startswith("▌ □ STOPPING ")
    console.change(reduce(console.state, ServerGone(at=console.now(), pid=ROOT)))
    assert plain(paint_verdict(replace(picture, state=console.state), 120, 5)[0]).startswith("▌ □ STOPPED ")
