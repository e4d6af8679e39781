"""Opening things that must not be left behind half open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

Opened = TypeVar("Opened")


async def open_or_undo(opening: Awaitable[Opened], undo: Callable[[Opened], None]) -> Opened:
    """Await an opening; when the wait for it is cancelled, let it come to its end and undo it then.

    Neither asyncssh nor asyncio can be cancelled in the middle of it: a channel would stay open on the host, and
    `create_subprocess_exec` may wait for its child for ever (CPython 3.11).
    """
    task = asyncio.ensure_future(opening)

    def undo_late(done: asyncio.Future[Opened]) -> None:
        if not done.cancelled() and done.exception() is None:
            undo(done.result())

    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(undo_late)
        raise
