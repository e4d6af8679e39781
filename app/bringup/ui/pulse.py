"""Looks many times a second whether there is something to draw, for next to nothing.

A timer of Textual sends a message each time; twenty of them a second were most of what a quiet console cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_WHEN_QUIET = 2
"""Times longer between two looks once there was nothing new for a second."""


class Pulse:
    """Calls `draw` soon after `is_due` says so, and not again before that was done."""

    def __init__(self, per_second: int, is_due: Callable[[], bool], draw: Callable[[], object]) -> None:
        self._every = 1 / per_second
        self._is_due = is_due
        self._draw = draw
        self._next: asyncio.TimerHandle | None = None
        self._asked = False
        self._in_vain = 0
        self._per_second = per_second
        self.looks = 0
        """How often it has looked."""

    def begin(self) -> None:
        """Look from now on; to be called on the event loop."""
        rest = self._every if self._in_vain < self._per_second else _WHEN_QUIET * self._every
        self._next = asyncio.get_running_loop().call_later(rest, self.begin)
        self.looks += 1
        if not self._asked and self._is_due():
            self._asked = True
            self._in_vain = 0
            self._draw()
        else:
            self._in_vain += 1

    def done(self) -> None:
        """What was due has been drawn."""
        self._asked = False

    def end(self) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()
