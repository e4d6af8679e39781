"""The verdict: what `assess` says of a state at a moment. Its fields are the JSON contract, schema version 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bringup.core.events import Labels, Phase, Role

StateName = Literal[
    "waiting", "starting", "slow", "stalled", "failed", "stopped", "ready", "degraded", "standby", "unknown"
]
Origin = Literal["log", "maps", "memory", "peers", "none"]
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class RankView:
    """One rank as a bar: `progress` 0…1 of the current phase and where the number came from."""

    rank: int
    node: str
    labels: Labels
    pid: int | None
    gpu: int | None
    phase: Phase | None
    role: Role | None
    progress: float | None
    """Proven or observed share of the phase; 1.0 only when the rank's own line said that it is done."""
    source: Origin
    quiet_s: float | None
    """Seconds since this rank last showed work on any channel."""
    opened: float | None = None
    """Share of shards opened but perhaps not yet consumed (drawn lighter); never below progress."""
    done: int | None = None
    total: int | None = None
    straggler: bool = False
    trouble: str = ""
    """"stopped", "zombie", "gone", "uninterruptible", "error": what is wrong with the rank's process, if anything."""
    note: str = ""
    """A few words beside the bar: "done in 57.9 s", "shard 41/64", "waits for TP5"."""
    signs: tuple[tuple[str, float], ...] = ()
    """(sign, seconds since it last showed work of this rank), the newest first: "log", "maps", "faults", "cpu" …"""
    part: str = ""
    """Which of several captures `progress` is of: "prefill", "decode", "verify", "extend"; empty where there is one."""


@dataclass(frozen=True, slots=True)
class PhaseView:
    """One phase of one model over all ranks; times are epoch seconds of the watched host."""

    phase: Phase
    role: Role | None
    started: float
    seconds: float
    ended: bool
    part: str = ""
    ranks_done: int = 0


@dataclass(frozen=True, slots=True)
class Cause:
    """Why it failed or stopped: the line, who wrote it, what to do."""

    kind: str
    line: str
    line_number: int | None
    rank: int | None
    secondary: bool
    advice: str
    channel: str = "log"
    """Where the line stands: "log", "kernel", or "processes" where nobody printed one."""
    node: str = ""
    """On which of several hosts, as the operator named it; empty where only one is watched."""


@dataclass(frozen=True, slots=True)
class Advisory:
    """Something to look at that is not a failure."""

    kind: str
    detail: str
    advice: str = ""
    """What to do about it."""


@dataclass(frozen=True, slots=True)
class ChannelView:
    """One channel of evidence: what it says now and how old that is."""

    channel: str
    """"log", "bar", "processes", "maps", "cpu", "compilers", "gpus", "memory", "port", "http", "kernel"."""
    says: str
    """A few words with numbers: "57 of 64", "HTTP 503 on /health"; the reason where the channel cannot be had."""
    heard_s: float | None
    """Seconds since it last answered; None where it cannot be had."""
    moved_s: float | None
    """Seconds since it last showed work; None where it never did or cannot."""
    open: bool = True
    """False where the channel cannot be had."""


@dataclass(frozen=True, slots=True)
class Countdown:
    """A time limit of the engine or of a library that runs now: what ends when it is over."""

    name: str
    """"the load barrier", "torch's store timeout"."""
    left_s: float
    """Seconds until it gives up; negative once it should have."""
    limit_s: float
    waits_for: tuple[int, ...] = ()
    """Ranks that it waits for."""
    note: str = ""
    """What else changes the limit: "300 s before SGLang 0.5.6"."""


Hang = Literal["", "waits-for-one", "spinning", "stopped", "uninterruptible", "zombie", "gone", "silent"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to "what is it doing, is it healthy, and how long still"."""

    state: StateName
    phase: Phase | None
    role: Role | None
    summary: str
    engine: str | None
    version: str | None
    attempt: int
    model: str | None
    draft_model: str | None
    port: int | None
    now: float
    stale_s: float | None
    ranks_expected: int | None
    ranks_done: tuple[tuple[Phase, tuple[int, ...]], ...]
    ranks: tuple[RankView, ...]
    bar: tuple[int, int] | None
    phases: tuple[PhaseView, ...]
    eta_s: tuple[float, float] | None
    eta_basis: str
    failed_ranks: tuple[int, ...]
    cause: Cause | None
    warnings: tuple[Advisory, ...]
    evidence: tuple[str, ...]
    accept_len: float | None
    since: float | None = None
    """Begin of the attempt."""
    ghosts: tuple[tuple[str, float], ...] = ()
    """(history key, seconds) of the phases of the newest earlier start, in their order; empty without history."""
    channels: tuple[ChannelView, ...] = ()
    """Every channel with its age, for whoever wants to look behind the sentence."""
    countdown: Countdown | None = None
    hang: Hang = ""
    """The shape of a stall, or of an end without a word; empty where it is neither."""
