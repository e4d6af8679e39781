"""What is kept of a start: its command in so far as it decides how long it takes, its end, and its phases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from bringup.core.earlier import history_key
from bringup.core.policy import PastPhase, PastStart
from bringup.core.redact import mask
from bringup.core.sanitize import clean_text

Ended = Literal["ready", "degraded", "failed", "stopped", "standby"]
GOOD: tuple[Ended, ...] = ("ready", "degraded")
"""Starts that reached the end of the way: only they say how long it takes."""
_LONGEST = 400
"""Letters of a name that are kept: names come from the watched host."""


@dataclass(frozen=True, slots=True)
class StartKey:
    """Which starts are comparable: the same model in the same layout on the same host, whatever the port."""

    host: str
    engine: str
    model: str
    draft: str = ""
    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    nnodes: int = 1


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """One phase of one model over all ranks."""

    phase: str
    role: str
    part: str
    began: float
    """Seconds from the launch."""
    seconds: float
    ended: bool
    ranks: int = 0
    """Ranks whose own word ended it."""

    @property
    def key(self) -> str:
        """The name under which its duration is compared with that of other starts."""
        return history_key(self.phase, self.role or None, self.part)


@dataclass(frozen=True, slots=True)
class StartRow:
    """One start."""

    key: StartKey
    target: str
    """As the operator named the host."""
    identity: str
    """PID and start time of the launcher; empty where there is only a log."""
    began_at: float
    """Epoch seconds on the watched host's clock."""
    outcome: Ended
    seconds: float
    """From the launch until it was ready or ended."""
    version: str = ""
    cause: str = ""
    """Kind of the cause of a failure or stop."""
    whole: bool = True
    """It was seen from its begin, so that its durations are right."""
    phases: tuple[PhaseRow, ...] = ()
    number: int = 0
    """In the order in which starts were recorded; 0 while it is not."""

    def as_past(self) -> PastStart:
        """Return it as what a time left is estimated from."""
        phases = (PastPhase(row.key, row.began, row.seconds) for row in self.phases if row.ended)
        return PastStart(tuple(sorted(phases, key=lambda phase: phase.began)), self.seconds)

    def harmless(self) -> StartRow:
        """Return it without secrets and escape sequences, and with names of a bounded length."""
        key = replace(
            self.key,
            host=_kept(self.key.host),
            engine=_kept(self.key.engine),
            model=_kept(self.key.model),
            draft=_kept(self.key.draft),
        )
        return replace(
            self,
            key=key,
            target=_kept(self.target),
            version=_kept(self.version),
            cause=_kept(self.cause),
            phases=tuple(replace(row, part=_kept(row.part)) for row in self.phases),
        )


def kept_key(key: StartKey) -> StartKey:
    """Return a key as it is kept, to look up starts with."""
    return StartRow(key, "", "", 0.0, "ready", 0.0).harmless().key


def _kept(text: str) -> str:
    return mask(clean_text(text))[:_LONGEST]
