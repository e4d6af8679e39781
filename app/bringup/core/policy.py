"""What judgement depends on besides the state: patience, thresholds and earlier starts, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bringup.core.drafts import DraftClass
from bringup.core.events import Phase


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a phase may show no evidence of work (seconds) before it is called slow and then stalled."""

    slow: float
    stalled: float
    compiling: float
    """Instead of `stalled`, while an announced compile runs."""
    blind: float = 0.0
    """Instead of `stalled`, where only the log can be seen; 0 means the same."""
    stopped: float = 3.0
    """Seconds in state T before it is proof: a debugger stops a process for a moment, too."""
    stuck: float = 60.0
    """Seconds in state D without any work after which a rank is stuck, if its peers went on meanwhile; what it waits
    for may be given longer (`Policy.stuck`)."""
    cpu: bool = False
    """CPU time is work: nobody waits in a spinning collective in this phase."""


@dataclass(frozen=True, slots=True)
class Signs:
    """From what on a sample counts as a sign, in seconds, percent, shares of the power limit and cores."""

    fresh: float = 5.0
    """Seconds for which a sign is called current."""
    peers_ahead: float = 20.0
    """Seconds by which a peer must have worked longer: then storage works, and it is the one rank that does not."""
    held: float = 5.0
    """Seconds for which a process must have been seen in state D: one sample can catch any read in the act."""
    held_slow: float = 30.0
    """Seconds in state D without any work, while peers go on, from which a rank is named as one that is waited for."""
    watched: float = 60.0
    """Seconds for which processes must be watched, or a quarter of the phase's patience where that is less, before a
    silence that began earlier is a stall: the first sample, in which all of them were new, is no sign any more then."""
    unwatched: float = 2.0
    """By how much patience with the log's own age grows for one look, which has not watched the processes so long."""
    gpu_full: float = 95.0
    """Percent of utilisation that counts as full."""
    gpu_waits: float = 0.35
    """Share of the power limit below which a full GPU does not compute: it waits in a collective."""
    gpu_works: float = 0.5
    """Share of the power limit above which a busy GPU computes."""
    gpu_steady: float = 10.0
    """Seconds for which a GPU must have been full and cool before it is said to spin."""
    cpu_spins: float = 0.8
    """Cores that a process uses which turns in a loop."""


Trigger = Literal["first-begin", "first-end", "launch", "milestone"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A time limit of an engine or a library (engines/countdowns.toml); of several of one name the first counts."""

    name: str
    starts: Trigger
    """What starts it: the first rank that begins or ends the phase, the launch, or a milestone."""
    seconds: float
    phase: Phase | None = None
    """None for every phase before it serves."""
    engine: str = ""
    """Empty for every engine."""
    milestone: str = ""
    since: str = ""
    """First version it holds for; empty from the beginning on."""
    until: str = ""
    """Last version it holds for; empty for all later ones."""
    group: Literal["tp", "world"] = "world"
    """Among whom the ranks meet: those of one tensor-parallel group, or all."""
    needs: Literal["", "gpus", "servers"] = ""
    """Holds only with GPUs in sight, or with several HTTP servers."""
    set_by: str = ""
    """Argument of the launch (a field of Attempt) whose value replaces `seconds`."""
    renewed: bool = False
    """Every line of the log starts it again."""
    note: str = ""
    """What else changes it, in words."""
    samples: tuple[str, ...] = ()
    """Versions for which it holds."""


@dataclass(frozen=True, slots=True)
class PastPhase:
    """One phase of an earlier start: its history key, the seconds from the launch to its begin, and its duration."""

    key: str
    began: float
    seconds: float

    @property
    def ended(self) -> float:
        """Seconds from the launch to its end."""
        return self.began + self.seconds


@dataclass(frozen=True, slots=True)
class PastStart:
    """An earlier start of the same command that became ready, and was seen from its begin."""

    phases: tuple[PastPhase, ...]
    """In the order in which they began."""
    total: float
    """Seconds from the launch until it was ready."""

    def phase(self, key: str) -> PastPhase | None:
        """Return the phase with a history key."""
        return next((phase for phase in self.phases if phase.key == key), None)


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
    signs: Signs = Signs()
    waits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What a process in state D waits for, in words, by the beginnings of the kernel's wait channels."""
    stuck: Mapping[str, float] = field(default_factory=dict)
    """By what a process in state D waits for (a name of `waits`): seconds instead of the phase's own `stuck`."""
    limits: tuple[Limit, ...] = ()
    """Time limits that may be running, see core/countdowns.py."""
    drafts: tuple[DraftClass, ...] = ()
    """What the draft classes of the engines take, see core/drafts.py."""
    history: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Durations of the same phase in earlier starts of this command, newest last."""
    ranks: tuple[int, ...] = ()
    """The ranks of a whole start on this host, where the operator says how many there are."""
    earlier: tuple[PastStart, ...] = ()
    """The same starts as a whole, newest last: what follows a moment of one of them is known with its gaps."""
