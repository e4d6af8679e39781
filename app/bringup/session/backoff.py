"""How long to wait before the next try to connect, and after which failures there is none."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from bringup.core.errors import HostKeyChanged, HostKeyUnknown, LoginRefused

FIRST, LONGEST, FACTOR = 0.5, 10.0, 2.0
SPREAD = 0.3
"""Share of a wait that chance may take off: many consoles that lost the same host must not come back all at once."""


ASK_OPERATOR = (LoginRefused, HostKeyUnknown, HostKeyChanged)
"""Failures that do not go away by themselves; a refused login that is tried again and again can lock a user out."""


def waits(chance: Callable[[], float] = random.random) -> Iterator[float]:
    """Yield the seconds to wait: doubling from half a second to ten, for ever; `chance` gives numbers from 0 to 1."""
    wait = FIRST
    while True:
        yield wait * (1.0 - SPREAD * chance())
        wait = min(LONGEST, wait * FACTOR)
