"""How long to wait before the next try to connect."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

FIRST, LONGEST, FACTOR = 0.5, 10.0, 2.0
SPREAD = 0.3
"""Share of a wait that chance may take off: many consoles that lost the same host must not come back all at once."""


def waits(chance: Callable[[], float] = random.random) -> Iterator[float]:
    """Yield the seconds to wait: doubling from half a second to ten, for ever; `chance` gives numbers from 0 to 1."""
    wait = FIRST
    while True:
        yield wait * (1.0 - SPREAD * chance())
        wait = min(LONGEST, wait * FACTOR)
