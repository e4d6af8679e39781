"""A piece of a log as it comes from a host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of the log."""

    data: bytes
    offset: int
    """Where they begin in the file."""
    backlog: bool
    """They were there when the file was opened: only they themselves can tell when they were written."""
    at: float | None = None
    """When they came, in epoch seconds of the injected clock; None for backlog."""
    written: float | None = None
    """Where they end the backlog: when the file was last written to, by the host's clock, if the host tells."""
