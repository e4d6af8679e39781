"""One rank of a launch as far as it is known: its own log lines, its process, its files, its memory, and the bars.

Small and frozen like the state that they are part of, and without any judgement.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Labels, Phase, Process, Role
from bringup.core.verdict import Origin


@dataclass(frozen=True, slots=True)
class Edge:
    """One phase of one model on one rank: when it began and ended, as that rank's own log lines told."""

    phase: Phase
    role: Role
    part: str = ""
    began: float | None = None
    ended: float | None = None
    seconds: float | None = None
    """The engine's own measurement."""


@dataclass(frozen=True, slots=True)
class Mark:
    """When a counter of a process last moved, and to what: the raw material of "quiet for 40 s"."""

    value: float = 0.0
    moved_at: float | None = None


STILL = Mark()
"""A counter that was never seen to move."""


@dataclass(frozen=True, slots=True)
class Shards:
    """What a rank's maps have shown for one model: `seen` opened at some time, `open` mapped now, of `total`."""

    role: Role
    total: int | None = None
    seen: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()
    moved_at: float | None = None
    span: tuple[int, int] = (0, 0)
    """Lowest and highest number among those mapped now; 0 where the names carry none."""
    top: int = 0
    """Highest shard number seen; 0 where the names carry none."""
    rises: int = 0
    """How often newly opened shards followed the earlier ones in number; -1 once they did not: the order is unknown."""
    read: int = 0
    """Most shards ever opened and closed again: what was read never becomes less."""
    late: bool = False
    """The first look came in the middle of the load: what was opened before it, only the order of the files tells."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The most that was ever shown of a phase on one rank: a bar does not run backwards, whichever channel speaks."""

    phase: Phase
    role: Role
    part: str
    share: float
    source: Origin
    """The channel that the share came from."""
    opened: float | None = None
    """The largest share of files that were opened, by whichever channel."""
    done: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Growth:
    """GPU memory of a rank's process while it loads one model, in MiB."""

    role: Role
    base: int
    """Held before the load began: the context of the driver and of the communication library."""
    used: int
    """The most held since then."""
    rises: int = 0
    """How often more was held than at any look before."""
    largest: int = 0
    """The largest of these rises."""
    began_at: float = 0.0
    moved_at: float = 0.0
    steady: bool = False
    """It grew in many small steps while the model was far from complete: then it follows the load."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that writes lines which do not say of which replica it is."""

    pid: int
    labels: Labels
    """As it prints them."""
    replica: int
    known: bool
    """The process tree told the replica; else writers of one name were counted through."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What one rank of a launch held for its weights when it had loaded, as the engine itself measured."""

    model: str
    split: int
    """Over how many ranks the model was divided."""
    gib: float


@dataclass(frozen=True, slots=True, eq=False)
class Rank:
    """One global rank: its own log edges, its process, its maps. No judgement in here."""

    rank: int
    labels: Labels = ()
    node: str = ""
    pid: int | None = None
    gpu: int | None = None
    edges: tuple[Edge, ...] = ()
    heard_at: float | None = None
    """Last log line of this rank."""
    process: Process | None = None
    gone_at: float | None = None
    """When its process was first missing from a sample."""
    in_state_since: float | None = None
    """When its process was first seen in the state (R, S, D, T) that it is in."""
    cpu: Mark = STILL
    faults: Mark = STILL
    """Page faults, minor and major."""
    read: Mark = STILL
    """read_bytes plus rchar."""
    read_rate: float | None = None
    """Bytes a second from storage (read_bytes) between the last two samples."""
    cpu_rate: float | None = None
    """Cores in use between the last two samples."""
    shards: tuple[Shards, ...] = ()
    reaches: tuple[Reach, ...] = ()
    """The most shown of each phase that it has not ended."""
    held: Mark = STILL
    """GPU memory of its process in MiB, and when it last changed."""
    growths: tuple[Growth, ...] = ()
    intake: tuple[Role, int] | None = None
    """The model that it loads, and what its process had read (rchar) when that load was first seen."""


@dataclass(frozen=True, slots=True)
class BarState:
    """The newest bar and how it came there; `steps` are (time, done) of real advances, bounded."""

    kind: str
    phase: Phase
    role: Role
    done: int
    total: int
    title: str
    drawn_at: float
    moved_at: float
    steps: tuple[tuple[float, int], ...] = ()
    provisional: bool = False
    part: str = ""
    """Which capture it is, as in Edge."""
    floor: float = 0.0
    """Share that an earlier bar of the same phase had reached: some models draw two."""
    files: bool = True
    """It counts files, not tensors."""
    dated: bool = True
    """`moved_at` is when it came so far; else it only is known that this was not before `moved_at`."""
    owner: int | None = 0
    """The rank that draws it; None where several ranks draw such a bar and none says whose it is."""
