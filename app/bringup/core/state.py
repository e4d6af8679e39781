"""The state of one watched host: small, frozen, made only by `reduce`; compared by identity."""

from __future__ import annotations

from dataclasses import dataclass, field

from bringup.core.action import Action
from bringup.core.events import (
    Checkpoint,
    Gpu,
    GpuApp,
    HttpAnswered,
    KernelLine,
    LogTarget,
    Phase,
    Process,
    Role,
    Server,
)
from bringup.core.rank import STILL, BarState, Edge, Growth, Mark, Rank, Reach, Shards, Weighed, Worker

__all__ = [
    "Action",
    "Attempt",
    "BarState",
    "Edge",
    "EndingLine",
    "FaultLine",
    "GpuChannel",
    "GpuLoad",
    "Growth",
    "Link",
    "LogChannel",
    "Mark",
    "PastAttempt",
    "Rank",
    "Reach",
    "Shards",
    "State",
    "Weighed",
    "Worker",
]


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
    by: float | None = None
    """By when it had been written, where the host told; `at` may be the line's own word for it, or 0."""
    arrived: bool = False
    """It came at `at`, while somebody listened."""


@dataclass(frozen=True, slots=True)
class EndingLine:
    """The server said that it ends."""

    at: float
    how: str
    line: int
    remaining: int | None = None
    text: str = ""
    """The line itself, where it is worth showing."""
    by: float | None = None  # as in FaultLine
    arrived: bool = False


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
    headless: bool = False
    """It has no HTTP server of its own."""
    port: int | None = None
    loader_threads: int | None = None
    load_format: str = ""
    """How the weights are read, where the arguments say so ("dummy", "fastsafetensors" …)."""
    dist_timeout: float | None = None
    watchdog_timeout: float | None = None
    began_at: float | None = None
    """First sign of this launch: the process's start, or the first line."""
    launched: bool = False
    """Its arguments were seen (in the log or in the process list)."""
    told_ranks: tuple[int, ...] = ()
    """The ranks that there should be as the operator says; the arguments of the launch know better."""
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
    free_gb: float | None = None
    """Least GPU memory that a rank said was left when it was up."""
    facts: tuple[tuple[str, str], ...] = ()
    last_line_at: float | None = None
    """Last log line that a rule knew."""
    logged: bool = False
    """Its arguments were seen in the log."""
    launched_at: float | None = None
    """When they were printed there."""
    arrived: bool = False  # that time is the host's: they came while somebody listened
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
    world: int | None = None
    """Ranks of one world (torch.distributed), where the log told: with plain DP each replica can be one of its own."""
    workers: tuple[Worker, ...] = ()
    """Ranks whose lines do not say of which replica they are, in order of the log, bounded."""
    left_open: tuple[str, int, int] | None = None
    """Kind, done and total of the newest bar of the launch before: drawn once more, it is still that one's."""
    weighed: tuple[Weighed, ...] = ()
    """Newest last, bounded; those of earlier launches in the same log too."""


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
    ends_in_bar: bool = False  # the last that was read
    full: str = ""
    """Mount point of its disk while that is full: then the log cannot grow."""
    skew: float | None = None
    """Seconds that its stamps lack, where lines that arrived have proven it: they are in another zone than the host."""
    is_own: bool = False
    """The place was passed at which the watched process begins, as its launch wrote it down."""
    is_former: bool = False
    """It is the log of a process before the one that is watched, which writes elsewhere."""


@dataclass(frozen=True, slots=True)
class GpuLoad:
    """What one GPU did in the last minutes."""

    index: int
    moved_at: float | None = None
    """When its memory in use last changed."""
    used: int | None = None
    """MiB in use then."""
    samples: tuple[tuple[float, int | None, float | None], ...] = ()
    """(time, percent of utilisation, share of the power limit), newest last, bounded."""


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
    loads: tuple[GpuLoad, ...] = ()
    """What each GPU did in the last minutes."""


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
    alive_at: float | None = None
    """When it was last seen to run."""
    orphans: tuple[int, ...] = ()
    processes: tuple[Process, ...] = ()
    """The server's tree in the newest sample."""
    sampled_at: float | None = None
    arrived_at: float | None = None
    """When the first sample of this server was taken: all of its processes were new in it."""
    halted_at: float | None = None
    """Since when the launcher is stopped (state T); None while it is not."""
    children: tuple[tuple[str, Mark], ...] = ()
    """By comm, the processes of the tree that are no ranks: how many run, and when one of them was new or used CPU."""
    tree_cpu: Mark = STILL
    """CPU seconds of the whole tree: weak evidence, an idle scheduler spins at 100 %."""
    tree_work: Mark = STILL
    """Page faults and reads of the whole tree, new processes: evidence of work."""
    log: LogChannel = LogChannel()
    logs: tuple[LogTarget, ...] = ()
    gpu: GpuChannel = GpuChannel()
    http: HttpAnswered | None = None
    http_ok_at: float | None = None
    http_since: float | None = None
    """When HTTP first answered well."""
    http_bad_since: float | None = None
    """Since when every readiness probe has failed, after one that succeeded."""
    port_pid: int | None = None
    port_title: str = ""
    port_seen_at: float | None = None
    port_number: int | None = None  # the port that these three are about
    port_since: float | None = None
    """When its present owner was first seen there."""
    installed: str | None = None
    """Version of the engine's package on the host."""
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
    numbers: tuple[tuple[str, int], ...] = ()
    """By path, bounded: the number that the next launch has in a log that was left for another one."""
    action: Action | None = None
    acted: Action | None = None
    """The newest stop or restart from this console that may have ended the server: not refused, nor begun later."""
    elsewhere: Action | None = None
    """What somebody else does to the watched server from another console, or has done last."""

    @property
    def last_loss(self) -> float | None:
        """When the newest process of the server was first seen to be gone: its launcher, or one of its ranks."""
        ends = (self.gone_at, *(rank.gone_at for rank in self.attempt.ranks))
        return max((at for at in ends if at is not None), default=None)
