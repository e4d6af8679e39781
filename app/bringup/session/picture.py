"""The one place where state changes: events go in, the newest state and the log lines for the screen come out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from bringup.core.events import Event
from bringup.core.fold import fold
from bringup.core.state import State
from bringup.core.words import count
from bringup.recordings.encoder import Item

PENDING_LINES = 120_000
"""Lines kept for a screen that does not take them (a stalled terminal); the oldest are dropped beyond it."""


RECENT_LINES = 400
"""Lines kept for a report, whoever has taken them."""


class Picture:
    """The state of one host and the lines that have not been drawn yet."""

    def __init__(self, node: str) -> None:
        self.state = State(node=node)
        self.rev = 0
        self.recent: deque[bytes] = deque(maxlen=RECENT_LINES)
        """The newest lines of the log."""
        self.tap: Callable[[Item], None] = _pass_by
        """Hears all that is seen, in order, before it is folded in."""
        self._lines: list[bytes] = []
        self._untold = 0
        """Lines that the screen was not given: it did not take them in time, or they came faster than they are read."""

    def apply(self, events: Iterable[Event]) -> None:
        """Fold events into the state."""
        seen = list(events)
        for event in seen:
            self.tap(event)
        state = fold(self.state, seen)
        if state is not self.state:
            self.state = state
            self.rev += 1

    def add_lines(self, lines: list[bytes]) -> None:
        """Queue log lines for the screen."""
        if not lines:
            return
        self._lines.extend(lines)
        self.recent.extend(lines[-RECENT_LINES:])
        excess = len(self._lines) - PENDING_LINES
        if excess > 0:
            del self._lines[:excess]
            self._untold += excess
        self.rev += 1

    def skip(self, lines: int) -> None:
        """Count lines that are left out of the pane; everything else has read them."""
        self._untold += lines

    def take_lines(self) -> list[bytes]:
        """Hand over the queued lines, after a line that says how many were left out before them."""
        lines, self._lines = self._lines, []
        if lines and self._untold:
            told, self._untold = left_out(self._untold), 0
            return [told, *lines]
        return lines

    def touch(self) -> None:
        """Say that something visible changed that is not in the state (the open line of the log)."""
        self.rev += 1


def left_out(lines: int) -> bytes:
    """Return the line that stands in the pane for lines that are not shown."""
    told, what = count(lines, "line"), "it was" if lines == 1 else "they were"
    return f"--- bringup: {told} came too fast to be shown here; {what} read all the same ---".encode()


def _pass_by(_: Item) -> None:
    """Nobody listens."""
