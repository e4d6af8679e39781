"""Before there is a server: the GPUs are looked at, and a start is seen soon; afterwards the search is silent."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from fakehost import UUIDS, make_smi, running
from troubled import TroubledHost, no_trouble
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Completed, Host
from bringup.session import finder, search
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target

PATIENCE = 60.0
GPU = f"0, {UUIDS[0]}, 61440, 143771, 0, 78.10, 700.00, 31, NVIDIA H200\n"


async def session_on(host: TroubledHost, knowledge: Knowledge, **target: object) -> Session:
    async def connect() -> Host:
        return host

    narrowed = Target(**{"name": "box", "within": os.getpid(), **target})  # type: ignore[arg-type]
    session = Session(connect, narrowed, knowledge)
    await session.open()
    return session


async def test_holders_are_seen_and_a_start_soon(
    tmp_path: Path, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No look by the clock happens within this test: the stream alone tells of the server."""
    for name in ("SEARCH_EVERY", "CALM_EVERY", "CHECK_EVERY"):
        monkeypatch.setattr(finder, name, 600.0)
    smi = make_smi(tmp_path, GPU, f"{os.getpid()}, {UUIDS[0]}, 60000, python3\n").parent
    monkeypatch.setenv("PATH", f"{smi}:{os.environ['PATH']}")
    session = await session_on(TroubledHost(), knowledge)
    try:
        await eventually(lambda: bool(session.state.gpu.apps), PATIENCE)
        assert session.verdict().state == "waiting"
        assert [one.kind for one in session.verdict().warnings] == ["gpu-memory-taken"]
        folder = tmp_path / "server"
        folder.mkdir()
        with running(folder) as tree:
            begun = time.monotonic()
            await eventually(lambda: session.state.server is not None, PATIENCE)
            took = time.monotonic() - begun
            assert session.state.server is not None
            assert session.state.server.pid == tree.pid
        assert took < PATIENCE
        await eventually(lambda: session.state.gone_at is not None, PATIENCE)
        with running(folder) as tree:
            await eventually(lambda: session.state.server.pid == tree.pid, PATIENCE)
    finally:
        await session.close()


async def test_a_port_that_is_taken_is_told(knowledge: Knowledge) -> None:
    listener = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    session = await session_on(TroubledHost(), knowledge, port=port)
    try:
        await eventually(lambda: session.state.port_pid == os.getpid(), PATIENCE)
        assert any(f"Port {port} is taken" in one.detail for one in session.verdict().warnings)
    finally:
        await session.close()
        listener.close()


async def test_a_stream_that_is_refused_is_said_and_tried_again(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "AGAIN", 0.05)
    refused = ChannelRefused("box refused to start another command: open failed.", "Raise MaxSessions.")

    def trouble(what: str) -> Completed | None:
        if what == "stream":
            raise refused
        return None

    host = TroubledHost(trouble)
    session = await session_on(host, knowledge)
    try:
        await eventually(lambda: "MaxSessions" in dict(session.state.closed).get("gpus", ""), PATIENCE)
        host.trouble = no_trouble
        await eventually(lambda: "MaxSessions" not in dict(session.state.closed).get("gpus", ""), PATIENCE)
    finally:
        await session.close()
