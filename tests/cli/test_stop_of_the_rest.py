"""`bringup stop` where no server is, and a part of one lives on."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from ui.acts import cut

from bringup.cli.acting import planned_rest, what_lives_on
from bringup.cli.stopping import not_done, plan_each
from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.events import Process, Server
from bringup.core.state import State
from bringup.hosts.control import Orphan
from bringup.session.console import StopPlan, Unfinished
from bringup.session.session import Session

SERVER = Server(pid=100, start=1, engine="sglang", argv=())
STOP = cut(action="stop", step="stopping", alive=((4242, 7),), kept=False)
IN_WATCH = "In `bringup watch node2`, o shows what lives on of an earlier one, and can end it."

ORPHAN = Orphan(Process(pid=7, ppid=1, start=1, title="worker"), "sglang")
LOST = ConnectionLost("The connection is gone.", "`bringup status node1` tells.")


class Left:
    """A session of a host on which something was left."""

    def __init__(
        self,
        left: Unfinished | None = None,
        *,
        server: Server | None = None,
        orphans: tuple[Orphan, ...] = (),
        lost: bool = False,
    ) -> None:
        self.left = left
        self._lost = lost
        self.state = State(node="gpu-a", server=server, seeks="Looking for one.")
        self._orphans = orphans

    async def unfinished(self) -> Unfinished | None:
        return self.left

    async def orphans(self) -> tuple[Orphan, ...]:
        if self._lost:
            raise LOST
        return self._orphans

    async def plan(self, left: Unfinished | None = None) -> StopPlan:
        pairs = left.alive if left is not None else ((100, 1),)
        parts = tuple(Process(pid=pid, ppid=1, start=start, title="worker") for pid, start in pairs)
        return StopPlan("gpu-a", SERVER, "", parts)


async def test_the_rest_of_a_stop_that_was_cut_off_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    plan = await planned_rest(cast(Session, Left(STOP)))
    assert plan is not None
    assert [member.pid for member in plan.members] == [4242]
    assert "a part of the old server still runs (PID 4242)" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("more", [{"alive": ()}, {"busy": True}, {"kept": True}])
async def test_where_there_is_none_or_it_is_not_to_be_given_up_nothing_is(more: dict[str, object]) -> None:
    left = cut(**{"action": "restart", "alive": ((4242, 7),), "kept": False, **more})
    assert await planned_rest(cast(Session, Left(left))) is None
    assert await planned_rest(cast(Session, Left())) is None


async def test_what_is_not_ended_for_a_stop_is_told_all_the_same() -> None:
    kept = cut(step="killing", alive=((4242, 7),))
    ends = "In `bringup watch box`, o ends what lives on; then `bringup restart box --port 30000` launches it again."
    assert await what_lives_on(cast(Session, Left(kept)), "box") == f"{kept.sentence} {ends}"
    busy = cut(step="killing", alive=((4242, 7),), busy=True, age=12)
    told = await what_lives_on(cast(Session, Left(busy)), "box")
    assert told == f"{busy.sentence} Unless it gives another sign, it counts as cut off in 18 s."
    assert await what_lives_on(cast(Session, Left(orphans=(ORPHAN,))), "node2") == f"Looking for one. {IN_WATCH}"
    for other in ((), (replace(ORPHAN, why_not="It belongs to bob."),), (replace(ORPHAN, memory="none"),)):
        assert await what_lives_on(cast(Session, Left(orphans=other)), "node2") == ""


async def test_each_of_several_hosts_is_looked_at_as_one_alone(capsys: pytest.CaptureFixture[str]) -> None:
    hosts = {
        "node0": Left(server=SERVER),
        "node1": Left(STOP),
        "node2": Left(orphans=(ORPHAN,)),
        "node3": Left(),
        "node4": Left(cut(step="killing", alive=((4242, 7),))),
    }
    sessions = [(name, cast(Session, left)) for name, left in hosts.items()]
    plans, spared, unasked = await plan_each(sessions, lambda plan: plan.waiting(7.0))
    assert [(name, plan.members[0].pid, plan.drain) for name, _, plan in plans] == [
        ("node0", 100, 7.0),
        ("node1", 4242, 7.0),
    ]
    assert [*spared] == ["node2", "node4"]
    assert unasked == {}
    rest, orphans, nothing, kept = capsys.readouterr().err.splitlines()
    assert rest == f"node1: {STOP.sentence}"
    assert orphans == f"node2: there is no server to stop. Looking for one. {IN_WATCH}"
    assert nothing == "node3: there is no server to stop."
    assert kept.startswith("node4: there is no server to stop. A restart of the sglang server on port 30000 (PID 100)")


async def test_a_host_that_does_not_tell_what_lives_on_keeps_no_other_from_being_stopped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosts = {"node0": Left(server=SERVER), "node1": Left(lost=True)}
    sessions = [(name, cast(Session, left)) for name, left in hosts.items()]
    plans, spared, unasked = await plan_each(sessions, lambda plan: plan)
    assert [name for name, _, _ in plans] == ["node0"]
    assert (spared, unasked) == ({}, {"node1": LOST})
    said = "node1: there is no server to stop. What may live on of one is not known: The connection is gone."
    assert capsys.readouterr().err.splitlines() == [said]


LIVES = BringupError("Two are left.", "Look at them.")


@pytest.mark.parametrize(
    ("failed", "spared", "code"),
    [
        ({"node1": LOST}, {}, 4),
        ({"node1": LOST, "node2": LOST}, {}, 4),
        ({"node1": LOST, "node2": LIVES}, {}, 1),
        ({"node1": LOST}, {"node2": IN_WATCH}, 1),
        ({}, {"node2": IN_WATCH}, 1),
    ],
)
def test_a_lost_connection_is_the_exit_code_where_nothing_else_went_wrong(
    failed: dict[str, BringupError], spared: dict[str, str], code: int
) -> None:
    error = not_done(failed, spared, ["node0"])
    assert error.exit_code == code
    assert all(f"{name}: {each.what}" in error.what for name, each in failed.items())
    assert all(f"{name}: something of an earlier server was left alone." in error.what for name in spared)
    assert error.hint.endswith(" Stopped: node0.")
    assert error.hint.count(LOST.hint) == (1 if failed else 0), "each hint once"
