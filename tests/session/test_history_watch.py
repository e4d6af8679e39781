"""Two starts of the simulated server, watched through a real sshd: the second one knows what the first one took."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from session_watch import watching
from simulated import needs_linux
from sshd import Sshd
from waiting import eventually

from bringup.demo.host import DemoHost
from bringup.history.store import Store
from bringup.session.knowledge import Knowledge

pytestmark = needs_linux
PATIENCE = 90.0


async def test_the_second_start_is_told_by_the_first(real_sshd: Sshd, knowledge: Knowledge, tmp_path: Path) -> None:
    store = Store(tmp_path)
    async with DemoHost("healthy", speed=8) as demo, watching(demo, real_sshd, knowledge, store) as session:
        assert session.verdict().ghosts == ()
        await eventually(lambda: session.verdict().state == "ready", PATIENCE)
        await eventually(lambda: len(store.starts()) == 1, PATIENCE)
        (first,) = store.starts()
        assert first.outcome == "ready"
        assert first.whole
        assert {(row.phase, row.role) for row in first.phases} >= {("weights", "target"), ("weights", "draft")}
        told = {row.key for row in first.phases}

        # What keeps the demo's host stands above its server, too.
        await session.restart(replace(await session.plan(), regardless=True))
        await eventually(lambda: session.verdict().attempt == 2 and session.verdict().phase == "weights", PATIENCE)
        await eventually(lambda: session.verdict().ghosts != () or session.verdict().state == "ready", PATIENCE)
        verdict = session.verdict()
        assert {key for key, _ in verdict.ghosts} == told
        await eventually(lambda: session.verdict().state == "ready", PATIENCE)
        await eventually(lambda: len(store.starts()) == 2, PATIENCE)
    second = store.starts()[1]
    assert {row.key for row in second.phases} == told
    assert "cannot" not in dict(session.state.closed).get("history", "")
