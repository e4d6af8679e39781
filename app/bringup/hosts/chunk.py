"""A piece of a log as it comes from a host, and the step with which it came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bringup.core.events import LogMoved

How = Literal["rotated", "truncated", "replaced", "gone", "back", "padded"]
Rest = Literal["", "read", "missing", "between"]
"""What became of what was written to the log before: see LogMoved."""


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


@dataclass(frozen=True, slots=True)
class Step:
    """What one look amounts to: a move of the file, or bytes, and how long to wait then."""

    pause: float = 0.0
    moved: How | None = None
    data: bytes = b""
    head: bytes = b""
    size: int = 0
    """Bytes of NULs that were passed over."""
    node: str = ""
    """Which file it was, where that is told."""
    rest: Rest = ""
    read: int = 0
    """Bytes that were read of the file before."""


Item = Chunk | LogMoved
