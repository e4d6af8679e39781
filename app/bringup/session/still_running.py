"""What still runs of a server whose stop or restart was cut off, as a plan: so that it can be ended."""

from __future__ import annotations

from collections.abc import Callable

from bringup.core.events import Process, Server
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
