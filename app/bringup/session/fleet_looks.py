"""Several sessions without a screen: one look at all of them is one look at the start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from bringup.core.errors import ConnectionLost
from bringup.core.fleet import Part, decider, join
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.session.fleet import Fleet
from bringup.session.headless import EVERY, Headless, Look


@dataclass(frozen=True, slots=True)
class FleetLook(Look):
    """What is known of all nodes at a moment; `state` is of the node that decides."""

    nodes: tuple[tuple[str, State, Verdict], ...] = field(default=())
    """Every node with its state, and the verdict about it alone."""


class FleetHeadless:
    """Looks at all nodes again and again, as `Headless` does at one."""

    def __init__(self, fleet: Fleet, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._fleet = fleet
        self._sleep = sleep
        self._each = tuple((node, Headless(session)) for node, session in fleet.sessions)

    async def looks(self) -> AsyncGenerator[Look, None]:
        """Yield a look ten times a second, for ever; raises BringupError when the watch of a node ends by itself."""
        watch = asyncio.create_task(self._fleet.wait(), name="watch")
        try:
            while True:
                if watch.done():
                    await watch
                yield self.look()
                await self._sleep(EVERY)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def once(self) -> Look:
        """Return the first look that can be relied on; raises ConnectionLost when all connections are lost before."""
        looks = self.looks()
        try:
            async for look in looks:
                if all(session.state.link.status == "lost" for _, session in self._fleet.sessions):
                    raise ConnectionLost(
                        look.state.link.why or "All connections were lost.", "Nothing can be said now."
                    )
                if look.settled:
                    return look
        finally:
            await looks.aclose()
        raise AssertionError("looks never end by themselves")

    def look(self) -> Look:
        """Look now."""
        looks = [(node, headless.look()) for node, headless in self._each]
        now = looks[0][1].verdict.now
        parts = tuple(Part(node, look.state, look.verdict) for node, look in looks)
        verdict, own = join(parts, now, self._fleet.policy), decider(parts, now)
        mine = next(look for node, look in looks if node == own.node)
        # What a host that cannot be reached now would say is not waited for: the others may know how it ends.
        settled = mine.settled and all(look.settled or look.state.link.status == "lost" for _, look in looks)
        nodes = tuple((part.node, part.state, part.verdict) for part in parts)
        return FleetLook(verdict, mine.state, settled, mine.elapsed, mine.watched, nodes)
