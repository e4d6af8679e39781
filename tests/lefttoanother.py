"""Restarts of servers that something else may start again."""

from __future__ import annotations

import pytest
from engineserver import Place
from placedhost import Placed
from waiting import alive

from bringup.core.events import Server
from bringup.hosts.control import LeftToAnother, Pace, Started, claim, restart, survey
from bringup.hosts.discover.candidates import Candidate, Family
from bringup.hosts.discover.roles import load_roles


async def again(host: Placed, server: Server, *, regardless: bool = False, wait: float | None = 0.2) -> Started:
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    pace = Pace(respawn=wait)
    return await restart(host, plan, claimed, report=lambda _: None, pace=pace, watch=0, regardless=regardless)


async def left_to(host: Placed, place: Place, server: Server, *living: int) -> LeftToAnother:
    """A restart launches nothing, and says which processes may start the server again."""
    with pytest.raises(LeftToAnother) as raised:
        await again(host, server)
    assert place.running() == []
    assert {each.pid for each in raised.value.stopped.starters} == set(living)
    assert all(str(pid) in raised.value.what for pid in living)
    assert all(alive(pid) for pid in living), "what stands above is not touched"
    return raised.value


def above(*chain: Candidate) -> tuple[int, ...]:
    """Return the PIDs of what may start the first one again."""
    family = Family({each.pid: each for each in chain}, (), load_roles())
    return tuple(each.pid for each in family.starters(chain[0].pid))
