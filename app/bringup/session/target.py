"""What is to be watched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bringup.config.guards import Guard
    from bringup.config.shapes import Target as Configured
    from bringup.hosts.control import LaunchCommand


@dataclass(frozen=True, slots=True)
class Drains:
    """How long a stop waits, in seconds; None: as long as the engine needs."""

    drain: float | None = None
    """Between the polite request and SIGKILL."""
    patient: float | None = None
    """The same for the gentle way, after which nothing is killed."""


@dataclass(frozen=True, slots=True)
class Target:
    """A host and how far the search on it is narrowed down."""

    name: str
    """As the operator named the host."""
    log: str | None = None
    port: int | None = None
    pid: int | None = None
    within: int | None = None
    """Only servers below this PID are seen: the demo and the tests stay among their own processes."""
    read_only: bool = False
    """Nothing is done to any server there."""
    guards: tuple[Guard, ...] | None = None
    """The read-only targets of the configuration that are on its host; None where nobody has looked."""
    stop_command: str = ""
    """Run on the host to stop the server, in the place of signals; empty where none is configured."""
    drains: Drains = Drains()
    launch: LaunchCommand | None = None
    """How it is launched, where that is configured."""
    own: Configured | None = None
    """The target of the configuration that was named: the two commands are for the server that it means."""
    by_hand: bool = False
    """The command line says itself which server is meant, and not as the target does."""
