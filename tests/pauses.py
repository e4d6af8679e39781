"""A clock that stands still while a test works, however slow the machine is."""

from __future__ import annotations

import asyncio


class Pauses:
    """Time passes in pauses only, which take a share of what they are for."""

    def __init__(self, share: float = 0.1) -> None:
        self.now = 0.0
        self._share = share

    async def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.now += seconds
        await asyncio.sleep(seconds * self._share)

    def clock(self) -> float:
        """Return the seconds that were paused so far."""
        return self.now
