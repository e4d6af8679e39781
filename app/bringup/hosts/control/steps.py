"""How an action tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from bringup.core import words
from bringup.core.events import Process


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is being done now, in words."""

    text: str
    left: float | None = None
    """Seconds until the next thing is done by force or given up; None without a limit."""
    name: str = ""
    """The step as it is written down on the host: stopping, killing, waiting, returning, launching."""


Report = Callable[[Step], None]


def count(left: Collection[Process]) -> str:
    """Return a number of processes in words."""
    return words.count(len(left), "process", "processes")


def count_ended(ended: Collection[object]) -> str:
    """Return a number of processes that have ended, in words."""
    return words.count(len(ended), "ended process", "ended processes")


def still_run(left: Collection[Process]) -> str:
    """Return that a number of processes is left, in words."""
    if not left:
        return "none of its processes runs any more"
    return f"{count(left)} still run{'s' if len(left) == 1 else ''}"
