"""Where a large log is read: from its last launch, whatever only looks like one, with GNU's tools and busybox's."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bringup.hosts import attach
from bringup.hosts.attach import Plan, make_plan
from bringup.hosts.local import LocalHost

LAUNCH = b"[2026-03-02 09:14:14] server_args=ServerArgs(model_path='/models/m')\n"
SERVING = b"[2026-03-02 10:00:00 TP0] Decode batch, #running-req: 4, #token: 5120\n"
QUOTED = b'[2026-03-02 10:00:00] a prompt: "why does it print server_args=ServerArgs?"\n'
WORDS = ("server_args=", "args: Namespace(")


@pytest.fixture(params=["gnu", "busybox"])
def tools(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the search find only these tools."""
    monkeypatch.setattr(attach, "START", 1 << 16)
    monkeypatch.setattr(attach, "TAIL", 1 << 15)
    if request.param == "busybox":
        busybox = shutil.which("busybox")
        if busybox is None:
            pytest.skip("there is no busybox on this machine")
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in ("grep", "dd", "tail", "sed"):
            (folder / name).symlink_to(busybox)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return str(request.param)


def is_launch(line: bytes) -> bool:
    return line.startswith(b"[2026-03-02 09:14:14] server_args=")


async def plan_of(path: Path, content: bytes) -> Plan:
    path.write_bytes(content)
    host = LocalHost()
    file = await host.open(str(path))
    try:
        return await make_plan(host, str(path), file, len(content), WORDS, is_launch)
    finally:
        await file.close()


def serving(size: int) -> bytes:
    return (SERVING * (size // len(SERVING) + 1))[:size]


@pytest.mark.parametrize("before", [0, 100, (1 << 20) - 20, 3 << 20, 70 << 20])
async def test_the_last_launch_is_found(tools: str, tmp_path: Path, before: int) -> None:
    first = LAUNCH + serving(before)[: before and -len(LAUNCH) - 1] + b"\n" if before > 1000 else b""
    content = first + LAUNCH + serving(2 << 20) + b"\n" + QUOTED + serving(1 << 20)
    plan = await plan_of(tmp_path / "it's a server.log", content)
    assert plan.found
    assert len(first) - 2048 <= plan.launch <= len(first)
    assert plan.launch == 0 or content[plan.launch - 1 : plan.launch] == b"\n"
    assert content[plan.until - 1 : plan.until] == b"\n"
    assert content[plan.tail - 1 : plan.tail] == b"\n"
    assert plan.launch < plan.until < plan.tail
    assert plan.until - plan.launch >= 1 << 16
    assert 0 < len(content) - plan.tail <= 1 << 15


async def test_a_launch_near_the_end_leaves_nothing_out(tools: str, tmp_path: Path) -> None:
    content = serving(4 << 20) + b"\n" + LAUNCH + serving(50_000)
    plan = await plan_of(tmp_path / "log", content)
    assert plan.found
    assert plan.tail == plan.until
    assert content[plan.launch : plan.until].count(LAUNCH) == 1


async def test_without_a_launch_the_beginning_stands_in(tools: str, tmp_path: Path) -> None:
    plan = await plan_of(tmp_path / "log", serving(1 << 20) + b"\n" + QUOTED + serving(1 << 20))
    assert (plan.found, plan.launch) == (False, 0)
    assert plan.tail > plan.until


async def test_bytes_that_are_no_text(tools: str, tmp_path: Path) -> None:
    content = b"\0\xff\xfe" * 100_000 + b"\n" + LAUNCH + b"\0\xff" * 500_000 + b"\n" + serving(1 << 20)
    plan = await plan_of(tmp_path / "log", content)
    assert plan.found
    assert content[plan.launch : plan.until].count(LAUNCH) == 1


async def test_behind_a_hole_it_is_searched_from_there(tools: str, tmp_path: Path) -> None:
    """The log of a server was truncated, and it went on at its old offset; then another server was launched there."""
    path, hole = tmp_path / "log", 3 << 30
    with path.open("wb") as file:
        file.write(b"somebody said something\n")
        file.seek(hole)
        file.write(serving(1 << 20) + b"\n" + LAUNCH + serving(2 << 20))
    host = LocalHost()
    opened = await host.open(str(path))
    plan = await make_plan(host, str(path), opened, path.stat().st_size, WORDS, is_launch)
    await opened.close()
    assert plan.found
    assert plan.nuls == hole
    assert hole + (1 << 20) - 2048 <= plan.launch <= hole + (1 << 20) + 1


async def test_a_launch_below_a_hole_is_the_newest(tools: str, tmp_path: Path) -> None:
    path, begin = tmp_path / "log", LAUNCH + serving(10_000)
    with path.open("wb") as file:
        file.write(begin)
        file.seek(3 << 30)
        file.write(LAUNCH + serving(2 << 20))
    host = LocalHost()
    opened = await host.open(str(path))
    plan = await make_plan(host, str(path), opened, path.stat().st_size, WORDS, is_launch)
    await opened.close()
    assert (plan.launch, plan.found) == (0, True)
    assert len(begin) <= plan.tail < len(begin) + 8192
