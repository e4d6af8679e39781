"""What a host did not answer in time is not known; it is no reason to break off."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from bringup.core.errors import ChannelRefused

Answer = TypeVar("Answer")


async def in_time(asked: Awaitable[Answer], otherwise: Answer) -> tuple[Answer, str]:
    """Return an answer and ""; or `otherwise`, and why, where the host did not give one in time."""
    try:
        return await asked, ""
    except ChannelRefused as slow:
        if slow.reason != "timeout":
            raise
        return otherwise, slow.what
