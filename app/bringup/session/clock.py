"""The watched host's clock, as well as the rows that carry it let us know it."""

from __future__ import annotations

import time
from collections.abc import Callable

JUMP = 2.0
"""Seconds of difference beyond which the newest row is believed over the estimate: a clock that was set."""


def elapsed() -> float:
    """Return seconds that pass also while this machine sleeps, from any moment on.

    CLOCK_MONOTONIC stands still then on Linux, CLOCK_BOOTTIME does not (clock_gettime(2)); on macOS Python's own
    monotonic clock stands still, and CLOCK_MONOTONIC does not (clock_gettime(3)).
    """
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class HostClock:
    """Tells the host's time between the rows that state it; the wall clock of this machine until the first one."""

    def __init__(self, *, monotonic: Callable[[], float] = elapsed, wall: Callable[[], float] = time.time) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._offset: float | None = None

    def tell(self, host_time: float) -> None:
        """Learn that it was `host_time` (epoch seconds) on the host, at some moment before now.

        A row can only be late, never early, so the largest offset seen is the best one.
        """
        offset = host_time - self._monotonic()
        if self._offset is None or offset > self._offset or self._offset - offset > JUMP:
            self._offset = offset

    def now(self) -> float:
        """Return the host's time in epoch seconds."""
        return self._wall() if self._offset is None else self._monotonic() + self._offset
