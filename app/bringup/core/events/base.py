"""Everything that can happen, as frozen records: log lines that mean something, probe rows, answers, actions.

Times (`at`) are seconds since the epoch on the watched host's clock. For a log event that came with live bytes it is
the time of arrival; for bytes that were already in the file when it was opened it is the line's own stamp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["target", "draft"]
Phase = Literal["launch", "download", "distributed", "weights", "kv-cache", "compile", "graphs", "warmup", "serving"]
PHASES: tuple[Phase, ...] = (
    "launch",
    "download",
    "distributed",
    "weights",
    "kv-cache",
    "compile",
    "graphs",
    "warmup",
    "serving",
)
Labels = tuple[tuple[str, int], ...]
"""Parallel coordinates as the engine prints them, sorted by name: (("dp", 0), ("tp", 3))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened."""

    at: float
