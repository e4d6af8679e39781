"""Whether anything may be done to a server: it may not with --read-only, nor where a read-only target protects it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bringup.config.guards import Guard, Subject
from bringup.core.errors import UsageError
from bringup.core.events import Launcher, Server
from bringup.hosts.control import Unfinished
from bringup.session.left_over import is_over
from bringup.session.target import Target

_WAYS = {"docker": "docker", "systemd": "unit", "systemd-user": "unit"}
"""Kinds of launchers (hosts/discover/launchers.toml) whose names are those of a way to the server."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What protects the servers of one host, and what the operator named of the one that is meant there."""

    read_only: bool = False
    """Of all that is watched: it was asked for on the command line."""
    guards: tuple[Guard, ...] = ()
    """The read-only targets of the configuration that are on this host."""
    named: Subject = field(default_factory=Subject)
    """What was named: all that is known while no server is there."""

    def why_not(self, subject: Subject | None = None) -> UsageError | None:
        """Return why nothing may be done to this, by default to what was named; None where it may."""
        subject = subject or self.named
        guard = next((guard for guard in self.guards if guard.covers(subject)), None)
        if guard is not None:
            return UsageError(guard.sentence(subject), guard.hint(subject))
        if self.read_only:
            return UsageError("This is watched read-only: nothing is done to a server.", "Leave --read-only out.")
        return None

    def of_server(self, server: Server | None) -> UsageError | None:
        """Return why nothing may be done to a server that was found, or to the one that is looked for."""
        if server is None:
            return self.why_not()
        return self.why_not(subject_of(server, self.named))

    def of_left(self, left: Unfinished) -> UsageError | None:
        """Return why what was left in the middle may be neither gone on with nor forgotten.

        What is over can be forgotten: there is nothing to go on with.
        """
        if is_over(left):
            return replace(self, guards=()).why_not()
        port = left.port
        return self.why_not(self.named if port is None else replace(self.named, port=port))


def protection_of(target: Target) -> Protection:
    """Return what protects the servers of what is watched."""
    return Protection(target.read_only, target.guards or (), Subject(target.port, target.log or ""))


def subject_of(server: Server, named: Subject | None = None) -> Subject:
    """Return what is known of a server that was found, and was `named` like this."""
    named = named or Subject()
    ways = (*named.ways, *_way_of(server.launcher))
    writes = frozenset(log.path for log in server.logs)
    return replace(named, port=_port_of(server, named.port), writes=writes, ways=ways)


def _port_of(server: Server, named: int | None) -> int | None:
    """Return the port that tells it from others: a node behind the head one serves on none, unless it was given one."""
    is_given = any(word.partition("=")[0] == "--port" for word in server.argv)
    if server.node_rank > 0 and not is_given:
        return None
    return server.port if server.port is not None else named


def _way_of(launcher: Launcher) -> tuple[tuple[str, str], ...]:
    if launcher.kind not in _WAYS or not launcher.name:
        return ()
    user = "user/" if launcher.kind == "systemd-user" else ""
    return ((_WAYS[launcher.kind], f"{user}{launcher.name}"),)
