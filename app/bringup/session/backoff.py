"""How long to wait before the next try to connect."""

from __future__ import annotations

from collections.abc import Iterator

FIRST, LONGEST, FACTOR = 0.5, 10.0, 2.0


def waits() -> Iterator[float]:
    """Yield the seconds to wait: doubling from half a second to ten, for ever."""
    wait = FIRST
    while True:
        yield wait
        wait = min(LONGEST, wait * FACTOR)
