"""Waiting for a condition instead of for a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path


async def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until a condition holds."""
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
