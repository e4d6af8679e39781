"""How often a log is looked at: soon again while it moves, less and less often while it does not."""

from __future__ import annotations

FIRST = 0.2
"""Seconds between looks while the log moves."""
LONGEST = 1.0
"""Seconds between looks while it does not."""
SLOWING = 1.5


class Pace:
    """The pauses of one follower."""

    def __init__(self) -> None:
        self._pause = FIRST

    def moving(self) -> float:
        """Return the seconds until the next look at a log that has just grown."""
        self._pause = FIRST
        return FIRST

    def resting(self) -> float:
        """Return the seconds until the next look at a log that has not."""
        pause, self._pause = self._pause, min(LONGEST, self._pause * SLOWING)
        return pause
