"""How an action tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from bringup.core.events import Process


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is being done now, in words."""

    text: str
    left: float | None = None
    """Seconds until the next thing is done by force or given up; None without a limit."""
    name: str = ""
    """The step as it is written down on the host: stopping, killing, waiting, launching."""


Report = Callable[[Step], None]


def count(left: Collection[Process]) -> str:
    """Return a number of processes in words."""
    return "1 process" if len(left) == 1 else f"{len(left)} processes"


def still_run(left: Collection[Process]) -> str:
    """Return that a number of processes is left, in words."""
    return f"{count(left)} still run{'s' if len(left) == 1 else ''}"
