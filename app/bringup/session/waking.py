"""After a sleep of this machine, or of this program: is the connection still there?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bringup.core.errors import ChannelRefused, ConnectionLost
from bringup.core.words import duration
from bringup.hosts.base import Host
from bringup.session.clock import elapsed

EVERY = 1.0
"""Seconds between two looks at the clock."""
SLEPT = 5.0
"""Seconds by which a look may be late before it counts as a sleep: a terminal that stalls delays it, too."""
ANSWERS_IN = 3.0
"""Seconds in which a living connection answers. The keepalive would take 20 more to find that it is dead."""


async def dead_after_sleep(host: Host, clock: Callable[[], float] = elapsed) -> str:
    """Return, in words, that the connection did not survive a sleep; never returns while it survives."""
    while True:
        before = clock()
        await asyncio.sleep(EVERY)
        slept = clock() - before - EVERY
        if slept > SLEPT and not await _answers(host):
            return f"This machine slept for {duration(slept)}, and {host.name} does not answer any more."


async def _answers(host: Host) -> bool:
    try:
        await host.run(":", timeout=ANSWERS_IN)
    except ConnectionLost:
        return False
    except ChannelRefused as refused:
        return refused.reason != "timeout"
    return True
