"""The times of a stop, and the operator's word that there is no time any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


class Hurry:
    """Asked for while a stop is under way: what is left is killed at once, although there is time left."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = False

    def now(self) -> None:
        """Ask for it."""
        self.asked = True


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of a stop, and the clock it goes by."""

    drain: float | None = None
    """Seconds between the polite request and SIGKILL; None: as the engine needs (engines/endings.toml)."""
    kills: bool = True
    """What is left after the drain gets SIGKILL; without, it is left to run and told of."""
    hurry: Hurry = field(default_factory=Hurry, compare=False)
    respawn: float | None = None
    """Seconds to wait for a supervisor that starts the server again; None: as long as its kind asks for."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
