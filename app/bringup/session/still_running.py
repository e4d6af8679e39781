"""What still runs of a server: of one whose stop was cut off, as a plan; of one whose launcher has ended, in words."""

from __future__ import annotations

from collections.abc import Callable

from bringup.core.events import Process, Server
from bringup.core.state import State
from bringup.core.words import names
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Unfinished
from bringup.hosts.control.relaunch import Launchable
from bringup.session.acting import make_plan
from bringup.session.console import StopPlan
from bringup.session.target import Drains

_GONE = "Its launcher has ended: there is nothing that a restart could repeat."


async def plan_rest(
    host: Host, node: str, left: Unfinished, drains: Drains, is_engine: Callable[[str], bool]
) -> StopPlan:
    """Look at what still runs of a server, as it was written down when its stop began; raises ChannelRefused."""
    pid, start = left.server
    server = Server(pid=pid, start=start, engine=left.engine, argv=(), port=left.port)
    known = tuple(Process(pid=part, ppid=0, start=since, title="") for part, since in left.alive)
    survey = await control.survey(host, server, known, is_engine)
    return make_plan(node, survey, Launchable(restartable=_GONE), None, drains)


def outlived(state: State) -> str:
    """Return which processes of the watched server live on without its launcher, as a sentence; "" for none."""
    if not state.orphans:
        return ""
    which = names([str(pid) for pid in state.orphans])
    return f"Its launcher has ended; PID {which} of it {'lives' if len(state.orphans) == 1 else 'live'} on."
