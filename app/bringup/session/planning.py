"""What a stop or restart of a server would touch; the commands of a target are used on its own server only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bringup.config.guards import guard_of
from bringup.core.errors import ChannelRefused, ConnectionLost
from bringup.core.events import Process, Server
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control.editing import unmask
from bringup.hosts.control.ports import port_of_shell
from bringup.session.acting import make_plan
from bringup.session.choice import identity
from bringup.session.console import StopPlan
from bringup.session.protection import subject_of
from bringup.session.target import Target


class OwnCommands:
    """The `stop` and `launch` of a target: they are for its own server, and not for another that was chosen by hand."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._found: tuple[int, int] | None = None
        """The server that the search had chosen before the operator did."""
        self._picked = False

    def pick(self, server: Server, watched: Server | None) -> None:
        """Remember that the operator has chosen a server instead of the watched one; what follows it is no other."""
        if not self._picked:
            self._found = identity(watched)
        self._picked = identity(server) != self._found

    def why_not(self, server: Server) -> str:
        """Return in a sentence why the commands are not used on a server; "" where they are, or there are none."""
        target = self.target
        have = {"stop": target.stop_command, "launch": target.launch}
        names = [name for name, command in have.items() if command]
        by_hand = target.by_hand or (self._picked and identity(server) != self._found)
        if not names or not by_hand or _is_own(server, target):
            return ""
        commands = f"{' and '.join(names)} command{' is' if len(names) == 1 else 's are'}"
        return f"The target's own {commands} not used: {_doubt(target)}."


def _is_own(server: Server, target: Target) -> bool:
    """Say whether what the target names of its server proves this one to be it."""
    own = target.own
    if own is None:
        return False
    guard = guard_of(target.name, own)
    # Its launch command names the port on which it is, where the target does not.
    said = port_of_shell(own.launch) if own.port is None and own.launch else None
    return (
        (said is not None and said == server.port)
        or server.pid == own.pid
        or (bool(guard.names) and guard.is_certain(subject_of(server)))
    )


def _doubt(target: Target) -> str:
    own = target.own
    names = guard_of(target.name, own).names if own is not None else ""
    if own is not None and own.pid is not None:
        names = ", ".join(filter(None, (f"PID {own.pid}", names)))
    if names:
        return f"this is not known to be its server ({names})"
    return "the target names no port, PID or log by which this would be known as its server"


async def plan_server(
    host: Host,
    node: str,
    server: Server,
    known: tuple[Process, ...],
    own: OwnCommands,
    is_engine: Callable[[str], bool],
) -> StopPlan:
    """Look at what a stop of a server and a restart would touch now; `known` are its processes. Raises BringupError."""
    unused, target = own.why_not(server), own.target
    stop, launch = ("", None) if unused else (target.stop_command, target.launch)
    server = control.with_stop_command(server, stop)
    survey = await control.survey(host, server, known, is_engine)
    found = await control.examine(host, server)
    plan = replace(make_plan(node, survey, found, launch, target.drains), unused=unused)

    async def refuses(argv: Sequence[str]) -> str:
        return await _why_taken(host, plan, unmask(plan.server.argv, argv))

    taken = await _why_taken(host, plan) if launch is not None else ""
    return replace(plan, restartable=taken or plan.restartable, refuses=refuses)


async def _why_taken(host: Host, plan: StopPlan, argv: Sequence[str] | None = None) -> str:
    """Return who holds the port of the edited, or else of the configured command; a restart asks once more."""
    command = plan.launch.command if plan.launch is not None else ""
    ours = [member.pid for member in plan.members]
    try:
        return await control.why_taken(host, plan.server, ours, argv=argv, command=command)
    except (ChannelRefused, ConnectionLost):
        return ""
