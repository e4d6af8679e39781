"""The state of one watched host: small, frozen, made only by `reduce`; compared by identity."""

from __future__ import annotations

from dataclasses import dataclass, field

from bringup.core.events import (
    Checkpoint,
    Gpu,
    GpuApp,
    HttpAnswered,
    KernelLine,
    Labels,
    LogTarget,
    Phase,
    Process,
    Role,
    Server,
)


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


@dataclass(frozen=True, slots=True)
class Shards:
    """What a rank's maps have shown for one model: `seen` opened at some time, `open` mapped now, of `total`."""

    role: Role
    total: int | None = None
    seen: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()
    moved_at: float | None = None
    top: int = 0
    """Highest shard number seen; 0 where the names carry none."""
    rises: int = 0
    """How often newly opened shards followed the earlier ones in number; -1 once they did not: the order is unknown."""
    read: int = 0
    """Most shards ever opened and closed again: what was read never becomes less."""


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
    cpu: Mark = Mark()
    faults: Mark = Mark()
    """Page faults, minor and major."""
    read: Mark = Mark()
    """read_bytes plus rchar."""
    read_rate: float | None = None
    """Bytes a second from storage (read_bytes) between the last two samples."""
    shards: tuple[Shards, ...] = ()


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


@dataclass(frozen=True, slots=True)
class FaultLine:
    """An error line as the log had it."""

    at: float
    kind: str
    text: str
    line: int
    rank: int | None
    origin: str = ""
    secondary: bool = False
    vetoes_ready: bool = False
    after_kill: bool = False
    """It came after the first line that says the tree is being killed: consequence, not cause."""


@dataclass(frozen=True, slots=True)
class EndingLine:
    """The server said that it ends."""

    at: float
    how: str
    line: int
    remaining: int | None = None
    text: str = ""
    """The line itself, where it is worth showing."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """One launch of a server, and all that is known of it."""

    number: int = 1
    engine: str | None = None
    version: str | None = None
    model: str | None = None
    draft_model: str | None = None
    algorithm: str = ""
    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    dp_attention: bool = False
    nnodes: int = 1
    node_rank: int = 0
    port: int | None = None
    loader_threads: int | None = None
    began_at: float | None = None
    """First sign of this launch: the process's start, or the first line."""
    launched: bool = False
    """Its arguments were seen (in the log or in the process list)."""
    ranks: tuple[Rank, ...] = ()
    """Known ranks by number."""
    main: tuple[Edge, ...] = ()
    """Phases of the main process: launch, warm-up, serving."""
    bars: tuple[BarState, ...] = ()
    """Newest last, one of a kind, phase and role."""
    reached: tuple[tuple[str, float], ...] = ()
    """Milestones with the time of each, in order."""
    compiling: tuple[tuple[str, float], ...] = ()
    """Compiles announced and not ended."""
    faults: tuple[FaultLine, ...] = ()
    """Bounded: the first ones and the last ones."""
    endings: tuple[EndingLine, ...] = ()
    accept_lens: tuple[float, ...] = ()
    """Of the last decode lines, newest last."""
    warnings: tuple[tuple[str, str], ...] = ()
    """(kind, detail), without doubles."""
    facts: tuple[tuple[str, str], ...] = ()
    last_line_at: float | None = None
    """Last log line that a rule knew."""
    logged: bool = False
    """Its arguments were seen in the log."""
    launched_at: float | None = None
    """When they were printed there."""
    servers: int = 1
    """HTTP servers that must come up."""
    up: int = 0
    """HTTP servers that said that they are up, before the last of them did."""
    echoed: bool = False
    """A child has repeated the arguments."""
    proven: tuple[tuple[int | None, Phase, Role, str], ...] = ()
    """Phases that are over on all ranks of a replica (None: of all), with role and part: late lines open none."""
    nodes: tuple[int, ...] = ()
    """Node ranks whose arguments this log has shown (a job's log can hold several nodes)."""


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """What stays visible of an earlier launch in the same log."""

    number: int
    kind: str | None
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """The connection to the host."""

    status: str = "connecting"
    since: float = 0.0
    why: str = ""


@dataclass(frozen=True, slots=True)
class LogChannel:
    """The log as a channel: where, how much, how fresh."""

    path: str = ""
    kind: str = ""
    note: str = ""
    size: int = 0
    lines: int = 0
    unknown: int = 0
    grew_at: float | None = None
    moves: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GpuChannel:
    """The newest answer of nvidia-smi, and the memory of the last minutes per GPU for a sparkline."""

    gpus: tuple[Gpu, ...] = ()
    apps: tuple[GpuApp, ...] = ()
    seen_at: float | None = None
    history: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """(index, used MiB of the last samples, newest last), bounded."""
    moved_at: float | None = None
    """When the memory in use last changed on any GPU."""


@dataclass(frozen=True, slots=True)
class Action:
    """A stop or restart by the operator."""

    action: str
    step: str
    since: float
    ended: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """All that is known of a watched host."""

    node: str = ""
    system: str = ""
    user: str = ""
    utc_offset: float = 0.0
    link: Link = Link()
    seeks: str = ""
    """What discovery is looking for, while there is no server."""
    server: Server | None = None
    others: tuple[Server, ...] = ()
    gone_at: float | None = None
    """When the launcher was found to have ended."""
    orphans: tuple[int, ...] = ()
    processes: tuple[Process, ...] = ()
    """The server's tree in the newest sample."""
    sampled_at: float | None = None
    compilers: Mark = Mark()
    """Compiler children (nvcc, ninja, cicc, ptxas, gcc) of the tree: how many, and when last seen working."""
    tree_cpu: Mark = Mark()
    """CPU seconds of the whole tree: weak evidence, an idle scheduler spins at 100 %."""
    tree_work: Mark = Mark()
    """Page faults and reads of the whole tree, new processes: evidence of work."""
    log: LogChannel = LogChannel()
    logs: tuple[LogTarget, ...] = ()
    gpu: GpuChannel = GpuChannel()
    http: HttpAnswered | None = None
    http_ok_at: float | None = None
    http_bad_since: float | None = None
    """Since when every readiness probe has failed, after one that succeeded."""
    port_pid: int | None = None
    port_title: str = ""
    port_seen_at: float | None = None
    closed: tuple[tuple[str, str], ...] = ()
    """Channels that cannot be had, with the reason."""
    checkpoints: tuple[Checkpoint, ...] = ()
    """The files of the watched server's models, one entry a role."""
    kernel: tuple[KernelLine, ...] = ()
    """What the kernel log said about this server's processes and the GPUs, oldest first, bounded."""
    kernel_asked_at: float | None = None
    """When the kernel log last answered."""
    attempt: Attempt = field(default_factory=Attempt)
    earlier: tuple[PastAttempt, ...] = ()
    action: Action | None = None
