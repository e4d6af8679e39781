"""A start watched end to end through a real OpenSSH server: real processes, a real log, real signals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from session_watch import watching
from simulated import launchers, needs_linux, ranks
from sshd import Sshd
from waiting import alive, eventually

from bringup.core.verdict import Verdict
from bringup.demo.host import DemoHost
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session

pytestmark = needs_linux
PATIENCE = 60.0


async def reaches(session: Session, holds: Callable[[Verdict], bool]) -> Verdict:
    """Wait until the verdict is one that is waited for."""
    await eventually(lambda: holds(session.verdict()), PATIENCE)
    return session.verdict()


async def test_ranks_and_phases_advance_to_ready_and_kill_ends_the_tree(real_sshd: Sshd, knowledge: Knowledge) -> None:
    async with DemoHost("healthy", speed=3) as demo, watching(demo, real_sshd, knowledge) as session:
        seen: dict[int, list[tuple[float, str]]] = {rank: [] for rank in range(8)}

        def loaded(verdict: Verdict) -> bool:
            for view in verdict.ranks:
                if view.phase == "weights" and view.role == "target" and view.progress is not None:
                    seen[view.rank].append((view.progress, view.source))
            return verdict.phase in ("kv-cache", "graphs", "warmup", "serving")

        await reaches(session, loaded)
        for values in seen.values():
            assert [progress for progress, _ in values] == sorted(progress for progress, _ in values)
        partly = {
            rank for rank, values in seen.items() for progress, source in values if source == "maps" and progress < 1
        }
        assert len(partly) == 8
        # The slow rank goes on to the draft in the moment in which it ends; the others wait, done by their own word.
        assert {rank for rank, values in seen.items() if values[-1] == (1.0, "log")} >= set(range(8)) - {5}

        ready = await reaches(session, lambda verdict: verdict.state == "ready")
        assert ready.ranks_expected == 8
        assert [phase.phase for phase in ready.phases][:3] == ["launch", "distributed", "weights"]
        assert {phase.role for phase in ready.phases if phase.phase == "weights"} == {"target", "draft"}
        assert session.state.server is not None
        assert session.state.server.port == demo.server_port
        # This machine may have no GPUs: then it is said.
        assert session.state.gpu.gpus or "nvidia-smi" in dict(session.state.closed)["gpus"]
        assert any(b"fired up" in line for line in session.take_lines())

        plan = await session.plan()
        assert {process.pid for process in plan.members} >= set(ranks(demo).values())
        assert "sglang.launch_server" in plan.command
        await session.stop(plan)
        assert not launchers(demo)
        assert not [pid for pid in ranks(demo).values() if alive(pid)]
        stopped = await reaches(session, lambda verdict: verdict.state == "stopped")
        assert stopped.cause is not None
        assert stopped.cause.kind == "killed"


async def test_a_restart_repeats_the_launch_and_is_watched(real_sshd: Sshd, knowledge: Knowledge) -> None:
    # The new server loads its weights for some seconds yet when the restart says that it runs, and they must be seen.
    async with DemoHost("healthy", speed=5) as demo, watching(demo, real_sshd, knowledge) as session:
        await reaches(session, lambda verdict: verdict.state == "ready")
        first = session.state.server
        assert first is not None
        log = demo.home.log
        before = log.read_bytes()
        # What keeps the demo's host stands above its server, too.
        await session.restart(replace(await session.plan(), regardless=True))
        await reaches(session, lambda verdict: verdict.attempt == 2 and verdict.phase == "weights")
        second = session.state.server
        assert second is not None
        assert second.pid != first.pid
        assert (second.argv, second.cwd) == (first.argv, first.cwd)
        assert log.read_bytes().startswith(before)
        await reaches(session, lambda verdict: verdict.state == "ready")


async def test_a_stopped_rank_is_named(real_sshd: Sshd, knowledge: Knowledge) -> None:
    async with DemoHost("stall", speed=8) as demo, watching(demo, real_sshd, knowledge) as session:
        stalled = await reaches(session, lambda verdict: verdict.state == "stalled")
        assert stalled.phase == "weights"
        assert [view.rank for view in stalled.ranks if view.trouble == "stopped"] == [3]
        assert "TP3" in stalled.summary


async def test_a_lost_connection_is_said_and_made_again_without_losing_a_byte(
    real_sshd: Sshd, knowledge: Knowledge
) -> None:
    async with DemoHost("healthy", speed=8) as demo, watching(demo, real_sshd, knowledge) as session:
        await reaches(session, lambda verdict: verdict.phase == "weights")
        real_sshd.cut()
        await eventually(lambda: session.state.link.status != "up", PATIENCE)
        await eventually(lambda: session.state.link.status == "up", PATIENCE)
        await reaches(session, lambda verdict: verdict.state == "ready")
        assert session.state.log.size == demo.home.log.stat().st_size
        assert session.verdict().attempt == 1
