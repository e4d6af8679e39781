"""A machine on which the demo's host cannot be built: a sentence, and nothing is left."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import asyncssh
import pytest
from simulated import needs_linux

from bringup.core.errors import BringupError, UsageError
from bringup.demo import host as demo_host
from bringup.demo.host import DemoHost

pytestmark = needs_linux


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the host is built."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


async def refused(host: DemoHost) -> BringupError:
    with pytest.raises(BringupError) as told:
        async with host:
            pass
    return told.value


async def test_without_a_folder_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    error = await refused(DemoHost())
    assert "no folder to build its host in: No such file or directory" in error.what
    assert "TMPDIR" in error.hint


async def test_without_room(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bringup.demo.checkpoint.make_target", full)
    error = await refused(DemoHost())
    assert f"could not be built in {room}: No space left on device" in error.what
    assert "TMPDIR" in error.hint
    assert list(room.iterdir()) == []


async def test_without_a_free_port(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(demo_host, "PORTS", range(port, port + 1))
        error = await refused(DemoHost())
    assert f"no free port from {port} to {port}" in error.what
    assert list(room.iterdir()) == []


async def test_without_a_door(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def closed(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(asyncssh, "listen", closed)
    error = await refused(DemoHost())
    assert error.what == "The demo's SSH server cannot listen on 127.0.0.1: Operation not permitted."
    assert list(room.iterdir()) == []


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_speed_that_is_none(speed: float) -> None:
    with pytest.raises(UsageError, match="speed"):
        DemoHost(speed=speed)
