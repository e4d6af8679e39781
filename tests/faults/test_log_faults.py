"""The log moves under the eyes of a watch: nothing lost, nothing twice, and a mark where it happened."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from connectionfaults import signal_all
from faultwatch import PIECES, YESTERDAY, Run, Writer, at_each_moment, play, settle, watched
from logfaults import LOGS, file_services

from bringup.core.events import ChannelClosed
from bringup.session.knowledge import Knowledge

LEAVES_WITHIN = 10.0
MARK = b"--- bringup, "
ANEW = ("truncated, regrown at once",)
"""Faults with which another start begins: what is known of the one before it goes."""
Tell = Callable[[str, list[Run]], None]


@pytest.mark.parametrize("name", LOGS)
async def test_nothing_is_lost_when_the_log_moves(name: str, known: Knowledge, reference: Run, tell: Tell) -> None:
    fault, move = LOGS[name]
    flags = os.O_WRONLY | os.O_CREAT if "hole" in name else Writer.flags

    async def one(moment: float) -> Run:
        pieces = YESTERDAY if name in ANEW else PIECES
        with tempfile.TemporaryDirectory() as folder:
            async with watched(Path(folder), known, flags=flags, pieces=pieces) as run:
                await play(run, fault, moment)
                await settle(run, moves=bool(move) and "?" not in move)
                return run

    runs = await at_each_moment(name, one)
    for run in runs:
        assert run.got == run.expected
        assert set(run.moves) <= set(move.split())
        assert bool(run.moves) == bool([line for line in run.lines if line.startswith(MARK)])
        assert bool(run.moves) or "?" in move or not move
        check_end(run, reference, anew=name in ANEW)
    tell(name, runs)


def check_end(run: Run, reference: Run, *, anew: bool) -> None:
    """Compare with what is known where nothing happened."""
    shown = [line for line in run.lines if not line.startswith(MARK)]
    if not anew:
        assert run.outcome() == reference.outcome()
        assert shown == reference.lines
        return
    last, wanted = run.outcome(), reference.outcome()
    assert last["attempt"]["number"] == 2
    for name in ("ranks", "reached", "bars", "main", "model", "faults"):
        assert last["attempt"][name] == wanted["attempt"][name]
    assert shown[-len(reference.lines) :] == reference.lines


async def test_a_hole_is_told(known: Knowledge, tmp_path: Path) -> None:
    async with watched(tmp_path, known, flags=os.O_WRONLY | os.O_CREAT) as run:
        await play(run, LOGS["truncated, hole of NULs"][0], 0.5)
        await settle(run)
        assert any(b"NUL bytes of server.log are passed over" in line for line in run.lines)
        assert not any(b"\0" in line for line in run.lines)
        assert run.session.state.log.size == run.writer.path.stat().st_size


async def test_a_file_system_that_hangs_is_told(known: Knowledge, tmp_path: Path) -> None:
    async with watched(tmp_path, known) as run:
        told: list[str] = []
        picture = run.session._picture
        tapped = picture.tap
        picture.tap = lambda item: (  # type: ignore[assignment]
            told.append(item.why) if isinstance(item, ChannelClosed) and item.channel == "log" else None,
            tapped(item),
        )
        await play(run, LOGS["network file system hangs"][0], 0.5)
        await settle(run)
        assert any("does not answer" in why for why in told)
        assert "log" not in dict(run.session.state.closed)


async def test_leaving_does_not_wait_for_a_file_system_that_hangs(known: Knowledge, tmp_path: Path) -> None:
    async with watched(tmp_path, known) as run:
        services = file_services(run)
        signal_all(services, signal.SIGSTOP)
        run.cleanups.append(lambda: signal_all(services, signal.SIGKILL))
        assert services
        async with asyncio.timeout(LEAVES_WITHIN):
            await run.session.close()
