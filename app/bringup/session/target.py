"""What is to be watched."""

from __future__ import annotations

from dataclasses import dataclass


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
