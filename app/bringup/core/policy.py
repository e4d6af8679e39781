"""What judgement depends on besides the state: patience, thresholds and earlier starts, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a phase may show no evidence of work (seconds) before it is called slow and then stalled."""

    slow: float
    stalled: float
    compiling: float
    """Instead of `stalled`, while an announced compile runs."""
    blind: float = 0.0
    """Instead of `stalled`, where only the log can be seen; 0 means the same."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds as data: loaded from engines/patience.toml, overlaid by the operator's configuration."""

    patience: Mapping[str, Patience]
    """By phase; "default" must be there."""
    accept_floor: float = 1.15
    accept_lines: int = 3
    stale_after: float = 3.0
    """Seconds without any sign of the host before the picture is marked stale."""
    compilers: tuple[str, ...] = ()
    """comm names that count as compiler children."""
    advice: Mapping[str, str] = field(default_factory=dict)
    """By cause kind: what to do."""
    busy_factor: float = 3.0
    """By how much patience grows while processes use the CPU and nothing else moves."""
    history: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Durations of the same phase in earlier starts of this command, newest last."""
