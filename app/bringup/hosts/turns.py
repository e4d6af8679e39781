"""Turns of the event loop: what reads a flood lets everything else run between its slices.

From a key to its picture is a chain of callbacks, one a turn. With one turn between two slices a key waits for as many
slices as its chain has links (some ten with Textual 8.2); with all of them at once it waits for one. A turn in which
nobody has anything to do takes two microseconds.
"""

from __future__ import annotations

import asyncio

SLICE = 32 * 1024
"""Bytes of a log that are read without a break: some two milliseconds of work."""
TURNS = 16
"""Turns after each slice."""


async def give_way() -> None:
    """Let everything else that is ready run, and what becomes ready by it."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
