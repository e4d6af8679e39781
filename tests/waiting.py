"""Waiting for a condition instead of for a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path


async def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition holds; only what never comes true takes as long as that."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    """The process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def pid_in(file: Path) -> int:
    """Wait for a script to write its process number."""
    await eventually(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


def is_listening(pid: int) -> bool:
    """It has a TCP socket to which somebody can connect: that it has a socket is true before that (proc(5))."""
    own = {target.name for file in Path(f"/proc/{pid}/fd").iterdir() if (target := _target(file)).name[:7] == "socket:"}
    rows = [row.split() for kind in ("tcp", "tcp6") for row in _table(pid, kind)]
    return any(f"socket:[{row[9]}]" in own for row in rows if row[3] == "0A")


def _target(file: Path) -> Path:
    try:
        return file.readlink()
    except FileNotFoundError:
        return Path()


def _table(pid: int, kind: str) -> list[str]:
    file = Path(f"/proc/{pid}/net/{kind}")
    return file.read_text().splitlines()[1:] if file.exists() else []
