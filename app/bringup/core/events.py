"""Everything that can happen, as frozen records: log lines that mean something, probe rows, answers, actions.

Times (`at`) are seconds since the epoch on the watched host's clock. For a log event that came with live bytes it is
the time of arrival; for bytes that were already in the file when it was opened it is the line's own stamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


# --- the log -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent(Event):
    """A log line that a rule recognised."""

    line: int = 0
    """Line number in the file, counting LF from 1; 0 where it is not known."""
    stamp: float | None = None
    """The engine's own time of the line."""
    labels: Labels = ()
    """Which rank wrote it; empty for the main process and for engines that run one rank."""
    origin: str = ""
    """What a wrapper said of the place: pod, task, host or service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(LogEvent):
    """A server printed its arguments: a new attempt begins."""

    engine: str
    model: str = ""
    draft_model: str = ""
    algorithm: str = ""
    """Speculative algorithm (EAGLE, EAGLE3, NGRAM …), empty without speculation."""
    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    dp_attention: bool = False
    nnodes: int = 1
    node_rank: int = 0
    port: int | None = None
    host: str = ""
    loader_threads: int | None = None
    """Threads of the weight loader where the arguments say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseBegan(LogEvent):
    """A rank (or, without labels, the main process) entered a phase; `role` where the line itself names the model."""

    phase: Phase
    role: Role | None = None
    part: str = ""
    """What within the phase: "prefill", "decode", "verify", "extend" for graphs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEnded(LogEvent):
    """A rank left a phase; `seconds` is the engine's own measurement."""

    phase: Phase
    role: Role | None = None
    part: str = ""
    seconds: float | None = None
    model_class: str = ""
    """`type=` of a load's end line: LlamaForCausalLM, LlamaForCausalLMEagle3 …"""
    again: bool = False
    """Weights committed a second time (overlapped start), not a second model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar(LogEvent):
    """A progress bar was drawn. It names no rank: it belongs to rank 0 of its world (sglang.md §0)."""

    kind: Literal["shards", "graphs", "compile", "download", "autotune"]
    done: int
    total: int
    title: str = ""
    provisional: bool = False
    """The bar stands in an unterminated tail: it may still be cut short (1/4 of 1/48)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(LogEvent):
    """One thing a line tells: name and value, e.g. ("version", "0.5.15")."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached(LogEvent):
    """A milestone of the main process: scheduler-up, http-up, warmup-sent, warmup-answered, ready or node-up."""

    milestone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiling(LogEvent):
    """The engine announced a compile (DeepGEMM, FlashInfer, torch.compile) that can be silent for many minutes."""

    what: str
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded(LogEvent):
    """A decode batch under real traffic; accept_len counts the bonus token, so 1.0 means nothing was accepted."""

    accept_len: float | None = None
    running: int | None = None
    tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(LogEvent):
    """An error line; `kind` is a cause kind, `secondary` says that it is known to follow from another error."""

    kind: str
    text: str
    secondary: bool = False
    vetoes_ready: bool = False
    """The line proves that this server cannot be the one answering (a bind error)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending(LogEvent):
    """The server says that it ends: "sigterm", "sigint", "child-failed", "draining", "tree-killed", "shutdown"."""

    how: str
    remaining: int | None = None
    """Requests still to drain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(LogEvent):
    """A warning worth repeating (design: warnings[].kind)."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesRead(Event):
    """What one chunk amounted to, whether or not a rule knew its lines; closes the events of that chunk."""

    size: int
    """Bytes of the chunk."""
    lines: int
    unknown: int
    """Lines that no rule of the engine knew."""
    stamp: float | None = None
    """Last time printed within the chunk."""
    heard: tuple[Labels, ...] = ()
    """Ranks that printed anything in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOpened(Event):
    """The follower found the log."""

    path: str
    kind: str
    """"file", "deleted", "pipe", "terminal", "journal", "null", "missing", "denied": what kind of target it is."""
    size: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMoved(Event):
    """The log was rotated, truncated or replaced; reading goes on at the start of the new one."""

    how: Literal["rotated", "truncated", "replaced", "gone", "back"]


# --- the host ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSeen(Event):
    """What kind of machine answers."""

    node: str
    system: str
    """`uname -s`."""
    ticks: int = 100
    """Clock ticks per second (getconf CLK_TCK)."""
    boot: float = 0.0
    utc_offset: float = 0.0
    """Seconds east of UTC, to read stamps without a zone."""
    user: str = ""


@dataclass(frozen=True, slots=True)
class Process:
    """One process as /proc shows it (proc(5)); counters are totals since its start."""

    pid: int
    ppid: int
    start: int
    """Start time in clock ticks since boot: with the PID, the identity of a process."""
    title: str
    """Command line with the arguments joined by blanks, or the title the engine set."""
    comm: str = ""
    pgid: int = 0
    sid: int = 0
    user: str = ""
    state: str = "?"
    """One letter: R running, S sleeping, D uninterruptible, T stopped, Z zombie."""
    wchan: str = ""
    threads: int = 0
    cpu_s: float = 0.0
    minflt: int = 0
    majflt: int = 0
    rchar: int = 0
    read_bytes: int = 0
    rss_kb: int = 0
    shards: tuple[str, ...] | None = None
    """Checkpoint files mapped now, full paths; None where the maps could not be read or were not sampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessesSeen(Event):
    """A whole sample of the server's tree: a process that is missing from it has ended."""

    root: int
    processes: tuple[Process, ...]


@dataclass(frozen=True, slots=True)
class Gpu:
    """One row of nvidia-smi; MiB, percent, watts, degrees Celsius; None where the driver says N/A."""

    index: int
    uuid: str = ""
    name: str = ""
    used: int | None = None
    total: int | None = None
    utilization: int | None = None
    power: float | None = None
    power_limit: float | None = None
    temperature: int | None = None


@dataclass(frozen=True, slots=True)
class GpuApp:
    """A compute process on a GPU; `used` in MiB."""

    pid: int
    gpu: int
    used: int | None
    title: str = ""
    user: str = ""
    orphan: bool = False
    """A child of PID 1 that is not the server's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusSeen(Event):
    """One answer of nvidia-smi; `took` seconds."""

    gpus: tuple[Gpu, ...]
    apps: tuple[GpuApp, ...]
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelClosed(Event):
    """A channel of evidence cannot be had: "gpus", "processes", "maps", "http", "log"; `why` is a sentence."""

    channel: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswered(Event):
    """The answer to a readiness probe: a status, or the error that came instead."""

    path: str
    status: int | None = None
    error: Literal["", "refused", "timeout", "reset", "forbidden", "other"] = ""
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSeen(Event):
    """Who listens on the server's port; `pid` None while nobody does, 0 where somebody does but who cannot be told."""

    port: int
    pid: int | None
    title: str = ""


@dataclass(frozen=True, slots=True)
class LogTarget:
    """Where a server writes one of its streams (/proc/PID/fd/1 and 2)."""

    path: str
    kind: str
    """As in LogOpened."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server as discovery found it; `argv` may hold secrets: mask it before it is shown."""

    pid: int
    start: int
    engine: str
    argv: tuple[str, ...]
    cwd: str = ""
    user: str = ""
    logs: tuple[LogTarget, ...] = ()
    port: int | None = None
    model: str = ""
    draft_model: str = ""
    algorithm: str = ""
    tp: int = 1
    pp: int = 1
    dp: int = 1
    nnodes: int = 1
    node_rank: int = 0
    started_at: float = 0.0
    parent: str = ""
    """Title of the process above the launcher, where that is more than a shell: a supervisor or script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFound(Event):
    """Discovery chose a server to watch; `others` are those it did not choose."""

    server: Server
    others: tuple[Server, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGone(Event):
    """The launcher of the watched server has ended; `orphans` of its tree live on."""

    pid: int
    orphans: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching(Event):
    """No server is running; `seeks` says what is looked for, in words."""

    seeks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkChanged(Event):
    """The connection to the host: "connecting", "up", "lost", "refused"."""

    status: Literal["connecting", "up", "lost", "refused"]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStep(Event):
    """The operator's stop or restart goes on: `step` says in words what is being done now."""

    action: Literal["stop", "restart", "launch"]
    step: str
    ended: bool = False
    failed: bool = False
    detail: Mapping[str, str] = field(default_factory=dict)
