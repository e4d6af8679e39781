"""When to draw: looks many times a second whether something is new, for next to nothing.

A timer of Textual sends a message each time; twenty of them a second were most of what a quiet console cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bringup.core.state import State
    from bringup.ui.picture import Picture

_WHEN_QUIET = 4
"""Times longer between two looks once there was nothing new for some of them."""
_IN_VAIN = 4
_WHEN_FLOODED = 2
"""Times longer while more lines come than anybody can read: keys are drawn at once all the same."""
_FLOOD = 250
"""Lines between two looks that are a flood."""
_PANELS_EVERY = 0.2
"""Seconds between two paintings of the panels at least."""
_WHEN_CALM = 1.0
"""The same while nothing is on its way: only ages and loads change then."""
_WHEN_READY = 2.0
"""The same while a server is well and serves."""
_BUSY = ("starting", "slow")


class Pulse:
    """Calls `draw` soon after `is_due` says so, and not again before that was done."""

    def __init__(self, per_second: int, is_due: Callable[[], bool], draw: Callable[[], object]) -> None:
        self._every = 1 / per_second
        self._is_due = is_due
        self._draw = draw
        self._next: asyncio.TimerHandle | None = None
        self._asked = False
        self._in_vain = 0
        self._flooded = False
        self.looks = 0
        """How often it has looked."""

    @property
    def rest(self) -> float:
        """Seconds until the next look."""
        longer = _WHEN_QUIET if self._in_vain >= _IN_VAIN else _WHEN_FLOODED if self._flooded else 1
        return longer * self._every

    def begin(self) -> None:
        """Look from now on; to be called on the event loop."""
        self._next = asyncio.get_running_loop().call_later(self.rest, self.begin)
        self.looks += 1
        if not self._asked and self._is_due():
            self._asked = True
            self._draw()
        self._in_vain += 1

    def done(self, *, lines: int = 0) -> None:
        """What was due has been drawn, so many lines of the log among it: only they cannot wait for the next look."""
        self._asked = False
        self._flooded = lines > _FLOOD
        self._in_vain = 0 if lines else self._in_vain

    def end(self) -> None:
        """Look no more."""
        if self._next is not None:
            self._next.cancel()


class Pace:
    """Says how soon the panels are painted anew."""

    def __init__(self) -> None:
        self._painted_at = -_WHEN_CALM
        self._painted: Picture | None = None

    def painted(self, picture: Picture) -> None:
        """Learn what was painted just now."""
        self._painted_at = asyncio.get_running_loop().time()
        self._painted = picture

    def is_due(self, state: State, now: float) -> bool:
        """Tell whether a state at a moment of the host is worth painting by now."""
        passed = asyncio.get_running_loop().time() - self._painted_at
        if passed < _PANELS_EVERY:
            return False
        last = self._painted
        if last is None or passed >= _WHEN_READY:
            return True
        if last.verdict.state != "ready" and (passed >= _WHEN_CALM or int(now) != int(last.now)):
            return True
        return last.verdict.state in _BUSY or _marks(state) != _marks(last.state)


def _marks(state: State) -> Hashable:
    """What is shown as soon as it changes, however calm it was: never what only grows older."""
    attempt = state.attempt
    gone = tuple(rank.gone_at for rank in attempt.ranks)
    told = (attempt.number, attempt.reached, len(attempt.faults), gone)
    return told, state.link, state.server, state.gone_at, state.action, state.closed, state.http_bad_since
