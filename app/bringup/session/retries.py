"""Tries to connect that the operator asks for: at once instead of later, or again after what only they could mend."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol, runtime_checkable

from bringup.core.errors import BringupError


class Retries:
    """One session's; where nobody `stays` to be asked, a refusal ends the watch."""

    def __init__(self) -> None:
        self.stays = False
        """Somebody sees what is told and can ask for another try."""
        self.refused: BringupError | None = None
        """What the operator would have to mend, while that is waited for."""
        self._asked = asyncio.Event()

    def again(self) -> None:
        """Try now."""
        self._asked.set()

    async def pause(self, seconds: float) -> None:
        """Wait before the next try, but not for longer than the operator does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._asked.wait()
        self._asked.clear()

    async def settle(self, refused: BringupError) -> None:
        """Wait until the operator asks for another try; raises the refusal where there is nobody."""
        if not self.stays:
            raise refused
        self.refused = refused
        await self._asked.wait()
        self.refused = None


@runtime_checkable
class HasRetries(Protocol):
    """A console whose lost connection can be tried again at once."""

    @property
    def retries(self) -> Retries:
        """Those of the host that is not connected."""
        ...
