"""Several sessions without a screen: one look at all of them is one look at the start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bringup.core.fleet import Part, decider, join
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.session.fleet import Fleet
from bringup.session.headless import Headless, Look, Looking


@dataclass(frozen=True, slots=True)
class FleetLook(Look):
    """What is known of all nodes at a moment; `state` is of the node that decides."""

    nodes: tuple[tuple[str, State, Verdict], ...] = field(default=())
    """Every node with its state, and the verdict about it alone."""


class FleetHeadless(Looking):
    """Looks at all nodes, as `Headless` does at one."""

    lost = "All connections were lost."

    def __init__(self, fleet: Fleet, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        super().__init__(fleet.wait, sleep)
        self._fleet = fleet
        self._each = tuple((node, Headless(session)) for node, session in fleet.sessions)

    def is_lost(self, look: Look) -> bool:
        """Say whether no node can be reached any more."""
        return all(session.state.link.status == "lost" for _, session in self._fleet.sessions)

    async def ask_others(self) -> None:
        """Have all nodes asked at once."""
        await asyncio.gather(*(headless.ask_others() for _, headless in self._each))

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
