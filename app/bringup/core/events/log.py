"""What log lines mean: the events that the rules of an engine emit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bringup.core.events.base import Event, Labels, Phase, Role


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
    pid: int | None = None
    """Process that wrote it, where the line itself says so (vLLM)."""


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
    load_format: str = ""
    """How the weights are read, where the arguments say so: "auto", "safetensors", "dummy", "fastsafetensors" …"""
    servers: int = 1
    """HTTP servers that must all come up."""
    version: str = ""
    headless: bool = False
    """It serves nothing itself: another node has the HTTP server."""
    dist_timeout: float | None = None
    """Seconds that torch's process groups wait, where the arguments say so."""
    watchdog_timeout: float | None = None
    """Seconds that one batch may take, where the arguments say so."""
    echo: bool = False
    """A child repeats the arguments of its launch: it fills in what is not known, and begins no attempt of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseBegan(LogEvent):
    """A rank (or, without labels, the main process) entered a phase; `role` where the line itself names the model."""

    phase: Phase
    role: Role | None = None
    part: str = ""
    """What within the phase: "prefill", "decode", "verify", "extend" for graphs."""
    everyone: bool = False
    """No rank can be there before all have loaded (vLLM: the engine core waits for every worker)."""
    world: int | None = None
    """Ranks in the world (torch.distributed) of the one that speaks, where the line tells."""


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
    everyone: bool = False
    """The line proves it for every rank."""
    gib: float | None = None
    """What the loaded weights hold on this rank's GPU, as the engine measured it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar(LogEvent):
    """A progress bar was drawn. It names no rank: it belongs to rank 0 of its world (sglang.md §0)."""

    kind: Literal["shards", "graphs", "compile", "download", "autotune"]
    done: int
    total: int
    title: str = ""
    provisional: bool = False
    """The bar stands in an unterminated tail: it may still be cut short (1/4 of 1/48)."""
    everyone: bool = False
    """Every rank draws such a bar, not just the first one."""
    files: bool = True
    """It counts files; some loaders count tensors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(LogEvent):
    """One thing a line tells: name and value, e.g. ("version", "0.5.15")."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached(LogEvent):
    """A milestone of the main process: scheduler-up, http-up, warmup-sent, warmup-answered, ready or node-up."""

    milestone: str
    everyone: bool = False
    """Every rank has gone through all phases that any of them went through."""
    free: float | None = None
    """GB of GPU memory that the line says are left."""


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
    text: str = ""
    """The line itself, where it is worth showing as the cause."""


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
    ends_in_bar: bool = False
    """The last that was written is a bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOpened(Event):
    """The follower found the log."""

    path: str
    kind: str
    """"file", "deleted", "pipe", "terminal", "journal", "null", "missing", "denied": what kind of target it is."""
    size: int = 0
    note: str = ""
    renamed: bool = False
    """What was read before has this name now: it is the same file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWritten(Event):
    """The file was last written to at this time, as the host itself tells of bytes that were there before."""

    whole: bool = False
    """That holds for everything that was read so far, of all logs: nothing of it was written later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBegan(Event):
    """Here the log ended when the watched server was launched: nothing that was read before is of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRoom(Event):
    """How much room the disk of the log has: `full` names its mount point where nothing more can be written to it."""

    full: str = ""
    free: int = 0
    """Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMoved(Event):
    """The log was rotated, truncated or replaced; reading goes on at the start of the new one.

    "skipped" is no move of the log but of us: `size` bytes of a log too large to be read whole were passed over. So is
    "padded", where they were NULs: the log was truncated under a writer that does not append.
    """

    how: Literal["rotated", "truncated", "replaced", "gone", "back", "skipped", "padded"]
    size: int = 0
    rest: Literal["", "read", "missing", "between"] = ""
    """What was written before that was not read yet: nothing; found in another file and read; not found; or read, but
    not all of what was rotated between that file and the new one.
    """
    read: int = 0
    """Bytes that were read of the file before, where its rest is missing."""
