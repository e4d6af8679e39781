"""The keepalive that an operator has without asking for one: a dead peer is noticed within its 20 seconds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from connectionfaults import signal_all
from faultwatch import PATIENCE, SFTP, Run, plain_connect, play, settle, watched
from island import island, listening
from sshd import Sshd, start_sshd
from waiting import eventually

from bringup.hosts.base import Host
from bringup.hosts.ssh.config import KEEPALIVE_COUNT, KEEPALIVE_INTERVAL
from bringup.session.knowledge import Knowledge

BUDGET = KEEPALIVE_INTERVAL * (KEEPALIVE_COUNT + 1)
LATE = 10.0
"""Seconds that a busy machine may take beyond it."""
Tell = Callable[[str, list[Run]], None]
USUAL = {"keepalive_interval": KEEPALIVE_INTERVAL, "keepalive_count": KEEPALIVE_COUNT}


async def usual_connect(server: Sshd, **changes: object) -> Host:
    return await plain_connect(server, **{**USUAL, **changes})


async def stopped(run: Run) -> None:
    """The processes of the connection answer no more, for good."""
    pids = run.server.sessions()
    signal_all(pids, signal.SIGSTOP)
    run.cleanups.append(lambda: signal_all(pids, signal.SIGKILL))


async def noticed_in_time(run: Run, fault: Callable[[Run], Awaitable[None]]) -> None:
    """Let a peer die, and wait until that is known and all has been read over another connection."""
    await play(run, fault, 0.5)
    await eventually(lambda: run.noticed is not None, BUDGET + LATE)
    await asyncio.wait_for(settle(run), PATIENCE + BUDGET)
    assert run.noticed is not None
    assert run.noticed < BUDGET + LATE
    assert run.got == run.expected


async def test_a_peer_that_is_stopped_is_noticed_by_default(known: Knowledge, tell: Tell, tmp_path: Path) -> None:
    async with watched(tmp_path, known, connect=usual_connect) as run:
        await noticed_in_time(run, stopped)
    tell("peer stopped, default budget", [run])


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to make a network namespace")
async def test_a_link_that_is_cut_is_noticed_by_default(known: Knowledge, tell: Tell) -> None:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = stack.enter_context(island(61))
        server = stack.enter_context(start_sshd(folder / "sshd", SFTP))
        theirs = stack.enter_context(listening(place, server))
        line = f"[{place.address}]:{server.port} {server.host_key}\n".encode()

        async def connect(_: Sshd) -> Host:
            return await usual_connect(theirs, host=place.address, known_hosts=line)

        async def cut(run: Run) -> None:
            place.link("down")
            run.later(BUDGET + 3, lambda: place.link("up"))

        async with watched(folder / "run", known, connect=connect) as run:
            await noticed_in_time(run, cut)
    tell("link cut, default budget", [run])
