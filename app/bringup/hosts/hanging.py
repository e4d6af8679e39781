"""Waiting for a file that does not answer: what reads from a network file system that hangs cannot be ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

AFTER = 5.0
"""Seconds without an answer after which a file is said to hang."""
Answer = TypeVar("Answer")
Tell = Callable[[bool], None]
"""Hears that there is no answer (True), and that there is one again (False)."""


async def answer(asked: Awaitable[Answer], tell: Tell) -> Answer:
    """Wait for an answer however long it takes, and tell when it takes long."""
    task = asyncio.ensure_future(asked)
    hangs = False
    try:
        while not (await asyncio.wait({task}, timeout=AFTER))[0]:
            if not hangs:
                hangs = True
                tell(hangs)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if hangs:
        tell(not hangs)
    return task.result()


def pass_by(hangs: bool) -> None:
    """Tell nobody."""
