"""Real processes that really map files, behind a real sshd: one is stopped, one is killed, one is only slow.

How long it took to say so is printed (`pytest -rP`): the machine that runs the tests decides it, so that only a
generous limit is asserted.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from session_watch import watching
from simulated import needs_linux, ranks, said
from sshd import Sshd
from waiting import eventually

from bringup.core.verdict import Verdict
from bringup.demo import scenarios
from bringup.demo.host import DemoHost
from bringup.demo.scenarios import Scenario
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session

pytestmark = needs_linux
PATIENCE = 60.0
SOON = 15.0
"""Seconds within which it must be said, on however slow a machine."""


def scenario(**changes: object) -> Scenario:
    """Four ranks that load for some seconds and then are soon ready, with changes."""
    healthy = scenarios.load("healthy")
    short = {"launch": 3.0, "imports": 1.0, "distributed": 1.0, "draft": 1.0, "graphs": 2.0, "draft_graphs": 1.0}
    durations = replace(healthy.plan.durations, weights=10.0, warmup=1.0, **short)
    plan = replace(healthy.plan, ranks=4, shards=24, slow_rank=-1, slow_by=0.0, durations=durations)
    return replace(healthy, plan=replace(plan, **changes))  # type: ignore[arg-type]


async def reaches(session: Session, holds: Callable[[Verdict], bool], seconds: float = PATIENCE) -> Verdict:
    """Wait until the verdict is one that is waited for."""
    await eventually(lambda: holds(session.verdict()), seconds)
    return session.verdict()


def loads(rank: int) -> Callable[[Verdict], bool]:
    """A rank is in the middle of its weights, as its maps show."""

    def holds(verdict: Verdict) -> bool:
        view = next((view for view in verdict.ranks if view.rank == rank), None)
        return verdict.phase == "weights" and view is not None and 0.1 < (view.progress or 0.0) < 0.6

    return holds


async def test_a_rank_that_is_stopped_is_named_and_recovers(real_sshd: Sshd, knowledge: Knowledge) -> None:
    async with DemoHost(scenario()) as demo, watching(demo, real_sshd, knowledge) as session:
        await reaches(session, loads(2))
        pid = ranks(demo)[2]
        os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        stalled = await reaches(session, lambda verdict: verdict.state == "stalled", SOON)
        print(f"SIGSTOP to TP2: stalled said after {time.monotonic() - began:.1f} s")
        assert stalled.failed_ranks == (2,)
        assert stalled.phase == "weights"
        assert "TP2" in stalled.summary
        assert [view.rank for view in stalled.ranks if view.trouble == "stopped"] == [2]
        os.kill(pid, signal.SIGCONT)
        began = time.monotonic()
        going = await reaches(session, lambda verdict: verdict.state in ("starting", "slow"), SOON)
        print(f"SIGCONT: {going.state} said after {time.monotonic() - began:.1f} s")
        assert not going.failed_ranks
        ready = await reaches(session, lambda verdict: verdict.state == "ready")
        assert not any(view.trouble for view in ready.ranks)


@pytest.mark.parametrize("when", ["weights", "serving"])
async def test_a_rank_that_is_killed_is_named(when: str, real_sshd: Sshd, knowledge: Knowledge) -> None:
    async with DemoHost(scenario()) as demo, watching(demo, real_sshd, knowledge) as session:
        await reaches(session, loads(3) if when == "weights" else lambda verdict: verdict.state == "ready")
        os.kill(ranks(demo)[3], signal.SIGKILL)
        began = time.monotonic()
        bad = ("failed", "degraded")
        named = await reaches(session, lambda verdict: verdict.state in bad and "TP3" in verdict.summary, SOON)
        print(f"SIGKILL to TP3 while {when}: {named.state} said after {time.monotonic() - began:.1f} s")
        assert named.phase == when
        failed = await reaches(session, lambda verdict: verdict.state == "failed", SOON)
        assert failed.failed_ranks == (3,)
        assert failed.cause is not None
        assert failed.cause.kind == "killed"


async def test_a_rank_that_maps_its_shards_slowly_and_steadily_is_slow_and_not_stalled(
    real_sshd: Sshd, knowledge: Knowledge
) -> None:
    # This test need not wait for the minutes of a real start: the slow rank needs half a minute in all, which is longer
    # than silence may last, and three seconds a file, which is far shorter, also on a machine that is busy.
    weights = replace(knowledge.policy.patience["weights"], slow=2.0, stalled=15.0)
    policy = replace(knowledge.policy, patience={**knowledge.policy.patience, "weights": weights})
    slow = scenario(slow_rank=1, slow_by=28.0, shards=12)
    slow = replace(slow, plan=replace(slow.plan, durations=replace(slow.plan.durations, weights=4.0)))
    seen: list[Verdict] = []

    def over(verdict: Verdict) -> bool:
        if verdict.phase == "weights" and verdict.role == "target":
            seen.append(verdict)
        return verdict.phase not in (None, "launch", "distributed", "weights") or verdict.role == "draft"

    async with DemoHost(slow) as demo, watching(demo, real_sshd, replace(knowledge, policy=policy)) as session:
        await said(demo, "Load weight begin")
        await reaches(session, over)
        assert {verdict.state for verdict in seen} <= {"starting", "slow"}
        # For a moment after each file it is none, also after the last one.
        last = [verdict for verdict in seen if verdict.state == "slow"][-1]
        assert "TP1" in last.summary
        assert last.ranks_done[-1] == ("weights", (0, 2, 3))
        places = [next(view.progress or 0.0 for view in verdict.ranks if view.rank == 1) for verdict in seen]
        assert places == sorted(places)
        assert len({round(place, 3) for place in places}) >= 6
