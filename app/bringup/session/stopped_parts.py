"""What ends with a server that is stopped: its other processes, and the record of what had brought it up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from bringup.core.errors import BringupError
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Unfinished
from bringup.hosts.control.processes import Identity
from bringup.session.console import StopPlan


def parts_of(plan: StopPlan) -> frozenset[Identity]:
    """Return what ends with a planned server, by PID and start time, without its launcher."""
    found = ((member.pid, member.start) for member in plan.members)
    return frozenset(found) - {(plan.server.pid, plan.server.start)}


def settled_by(found: Sequence[Unfinished], plan: StopPlan) -> tuple[Unfinished, ...]:
    """Return the restarts and launches that had brought up what was stopped as planned."""
    stopped = {(plan.server.pid, plan.server.start), *parts_of(plan), *plan.server.launcher.above}
    return tuple(left for left in found if left.new in stopped and not left.busy)


async def settle(host: Host, claims: Callable[[Host], Awaitable[tuple[Unfinished, ...]]], plan: StopPlan) -> None:
    """Forget the restart that had brought up what was stopped: it did not fail, and nothing is left of it."""
    # The stop itself is done: a record that cannot be removed now is told as it is.
    with suppress(BringupError):
        for left in settled_by(await claims(host), plan):
            await control.discard(host, left)
