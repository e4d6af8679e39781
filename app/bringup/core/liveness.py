"""Is it still working: when each channel last showed work, and how long this phase may show none.

Silence of the log is no stall, and 100 % CPU is no work (an idle scheduler spins). What counts is that nothing moves
anywhere: no byte of log, no step of a bar, no page fault or read, no compiler, no file mapped, no GPU memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Phase
from bringup.core.phases import Position, time_of
from bringup.core.policy import Patience, Policy
from bringup.core.ranks import rank_name
from bringup.core.state import Rank, State
from bringup.core.words import names

FRESH = 5.0
"""Seconds for which a sign of work is called current."""
STOP_PROOF = 3.0
"""Seconds in state T before it is called proof: a debugger stops a process for a moment too."""
STUCK = 30.0
"""Seconds in state D without any work after which a rank is stuck, if its peers went on meanwhile."""
_PEERS_WENT_ON = 20.0
"""Seconds by which a peer must have worked longer: then the storage works, and it is this rank that does not."""
_CPU_IS_WORK: tuple[Phase, ...] = ("launch", "download", "compile")
"""Phases in which nobody waits in a spinning collective, so CPU is work: imports and compiles."""


@dataclass(frozen=True, slots=True)
class Liveness:
    """Evidence of work at a moment."""

    quiet: float | None
    """Seconds since any channel showed work; None before anything was seen."""
    channel: str
    """The channel that showed it last."""
    busy: bool
    """Processes use the CPU now, though nothing else moves."""
    compilers: int
    """Compilers of the tree at work now."""
    blind: bool
    """Only the log can be seen."""
    patience: float
    """Seconds of quiet that this phase may show before it is called stalled."""
    slow_after: float
    stopped: tuple[Rank, ...]
    """Ranks whose process is stopped (state T): proof, whatever else moves."""
    stuck: tuple[Rank, ...] = ()
    """Ranks that wait for storage and do nothing any more, though their peers went on."""

    @property
    def stalled(self) -> bool:
        """No evidence of work for longer than the phase explains, or a proven stop."""
        return bool(self.stopped or self.stuck) or (self.quiet is not None and self.quiet > self.patience)

    @property
    def silent(self) -> bool:
        """Quiet for long enough to be mentioned."""
        return self.quiet is not None and self.quiet > self.slow_after


def liveness(state: State, where: Position, now: float, policy: Policy) -> Liveness:
    """Return what evidence of work there is; without a fresh sample, time does not run on for the processes."""
    until = _judged_at(state, now, policy)
    signs = signs_of_work(state, where.phase)
    last, channel = max(((at, name) for name, at in signs), default=(None, ""))
    compilers = compilers_at_work(state, until)
    if compilers:
        last, channel = until, "compilers"
    blind = state.sampled_at is None
    busy = _recent(state.tree_cpu.moved_at, until)
    patience = patience_of(policy, "download" if _may_download(state, where) else where.phase)
    return Liveness(
        quiet=None if last is None else max(0.0, until - last),
        channel=channel,
        busy=busy,
        compilers=compilers,
        blind=blind,
        patience=_limit(state, patience, policy, blind=blind, busy=busy),
        slow_after=patience.slow,
        stopped=_stopped(state, until),
        stuck=_stuck(state, where, until),
    )


def signs_of_work(state: State, phase: Phase | None) -> tuple[tuple[str, float], ...]:
    """Return, by channel, when it last showed work."""
    attempt = state.attempt
    signs: dict[str, float | None] = {
        "start": attempt.began_at,
        "bar": max((bar.moved_at for bar in attempt.bars), default=None),
        "memory": state.gpu.moved_at,
        "processes": state.tree_work.moved_at,
        "maps": max(
            (s.moved_at for rank in attempt.ranks for s in rank.shards if s.moved_at is not None), default=None
        ),
    }
    if phase in ("warmup", "serving"):
        signs["log"] = attempt.last_line_at
    else:
        signs["log"] = max((at for at in (state.log.grew_at, attempt.last_line_at) if at is not None), default=None)
    if phase in _CPU_IS_WORK:
        signs["cpu"] = state.tree_cpu.moved_at
    return tuple((name, at) for name, at in signs.items() if at is not None)


def rank_quiet(rank: Rank, phase: Phase | None, now: float) -> float | None:
    """Return the seconds since a rank last showed work of its own, or None where it never did."""
    marks = [rank.heard_at, rank.faults.moved_at, rank.read.moved_at, *(shards.moved_at for shards in rank.shards)]
    if phase in _CPU_IS_WORK:
        marks.append(rank.cpu.moved_at)
    seen = [at for at in marks if at is not None]
    return max(0.0, now - max(seen)) if seen else None


def patience_of(policy: Policy, phase: Phase | None) -> Patience:
    """Return the patience with a phase."""
    default = policy.patience["default"]
    return policy.patience.get(phase, default) if phase is not None else default


def compilers_at_work(state: State, now: float) -> int:
    """Return how many compilers of the tree run, when one of them showed work a moment ago."""
    return int(state.compilers.value) if _recent(state.compilers.moved_at, now) else 0


def jit_seconds(state: State, now: float) -> float | None:
    """Return for how long the oldest announced compile has been running, or None without one."""
    if not state.attempt.compiling or time_of(state.attempt, "scheduler-up", "http-up", "ready") is not None:
        return None
    return max(0.0, now - min(at for _, at in state.attempt.compiling))


def rank_names(ranks: tuple[Rank, ...]) -> str:
    """Return the names of ranks, in words."""
    return names([rank_name(rank) for rank in ranks])


def _limit(state: State, patience: Patience, policy: Policy, *, blind: bool, busy: bool) -> float:
    limit = patience.blind if blind and patience.blind else patience.stalled
    if jit_seconds(state, 0.0) is not None:
        limit = max(limit, patience.compiling)
    return limit * policy.busy_factor if busy and not blind else limit


def _judged_at(state: State, now: float, policy: Policy) -> float:
    """Where samples came and then stopped, nothing is known of the time since the last one."""
    if state.sampled_at is None or now - state.sampled_at <= policy.stale_after:
        return now
    newest = [at for at in (state.log.grew_at, state.gpu.seen_at) if at is not None]
    return min(now, max([state.sampled_at, *newest]))


def _may_download(state: State, where: Position) -> bool:
    """A name on the model hub: vLLM fetches it within the load, without a bar, before the first shard is drawn."""
    model = state.attempt.model
    if where.phase != "weights" or state.attempt.engine != "vllm" or not model or model[:1] in "/.~":
        return False
    return not any(bar.kind == "shards" for bar in state.attempt.bars)


def _recent(at: float | None, now: float) -> bool:
    return at is not None and now - at <= FRESH


def _stuck(state: State, where: Position, now: float) -> tuple[Rank, ...]:
    """Ranks in a step that are in state D and flat on every counter, while a peer worked on or came to its end."""
    if where.step is None or where.step.complete or where.phase in ("warmup", "serving"):
        return ()
    last: dict[int, float] = {}
    for rank in state.attempt.ranks:
        edge = where.step.edge(rank.rank)
        ended = edge.ended if edge is not None else None
        marks = (ended, rank.cpu.moved_at, rank.faults.moved_at, rank.read.moved_at)
        last[rank.rank] = max((at for at in marks if at is not None), default=now)
    newest = max(last.values(), default=now)
    return tuple(
        rank
        for rank in state.attempt.ranks
        if rank.process is not None
        and rank.process.state == "D"
        and rank.gone_at is None
        and rank.rank in where.step.begun & frozenset(where.step.missing)
        and now - last[rank.rank] >= STUCK
        and newest - last[rank.rank] >= _PEERS_WENT_ON
    )


def _stopped(state: State, now: float) -> tuple[Rank, ...]:
    return tuple(
        rank
        for rank in state.attempt.ranks
        if rank.process is not None
        and rank.gone_at is None
        and rank.process.state == "T"
        and now - max(rank.cpu.moved_at or 0.0, rank.faults.moved_at or 0.0) >= STOP_PROOF
    )
