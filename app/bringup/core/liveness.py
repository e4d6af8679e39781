"""Is it still working: when each channel last showed work, and how long this phase may show none.

Silence of the log is no stall, and 100 % CPU is no work (an idle scheduler spins). What counts is that nothing moves
anywhere: no byte of log, no step of a bar, no page fault or read, no compiler, no file mapped, no GPU memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.blocked import held_ranks, stopped_launcher, stopped_ranks, stuck_ranks
from bringup.core.events import Phase
from bringup.core.gpu_loads import is_spinning, memory_moved_at, worked_at
from bringup.core.phases import Position, time_of
from bringup.core.policy import Patience, Policy
from bringup.core.ranks import rank_name
from bringup.core.state import Mark, Rank, State
from bringup.core.words import names


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
    """Ranks that wait in the kernel and do nothing any more, though their peers went on."""
    held: tuple[tuple[Rank, float], ...] = ()
    """Ranks that wait in the kernel, stuck or not yet, each with its seconds without work."""
    launcher: int | None = None
    """PID of the launcher where it is stopped (state T)."""
    unheard: bool = False
    """No sample of the processes came for a while, though they should come: their silence means nothing."""
    watched: float | None = None
    """Seconds for which the processes were watched, where that is less than `quiet`: only the log was older."""

    @property
    def stalled(self) -> bool:
        """No evidence of work for longer than the phase explains, or a proven stop."""
        if self.stopped or self.stuck or self.launcher is not None:
            return True
        return not self.unheard and self.quiet is not None and self.quiet > self.patience

    @property
    def silent(self) -> bool:
        """Quiet for long enough to be mentioned."""
        return self.quiet is not None and self.quiet > self.slow_after


def liveness(state: State, where: Position, now: float, policy: Policy) -> Liveness:
    """Return what evidence of work there is; without a fresh sample, time does not run on for the processes."""
    until = judged_at(state, now, policy)
    signs = signs_of_work(state, where.phase, policy)
    last, channel = max(((at, name) for name, at in signs), default=(None, ""))
    compilers = compilers_at_work(state, until, policy)
    if compilers:
        last, channel = until, "compilers"
    blind = is_blind(state)
    patience = phase_patience(state, where, policy)
    busy = _recent(state.tree_cpu.moved_at, until, policy)
    idle_use = busy and spins_explain_cpu(state, where, until, policy)
    quiet = None if last is None else max(0.0, until - last)
    limit = _limit(state, patience, policy, blind=blind, busy=busy and not idle_use)
    watched = _watched(state)
    if not blind and watched < enough_watched(patience, policy):
        limit *= policy.signs.unwatched
    return Liveness(
        quiet=quiet,
        channel=channel,
        busy=busy,
        compilers=compilers,
        blind=blind,
        patience=limit,
        slow_after=patience.slow,
        stopped=stopped_ranks(state, until, patience),
        stuck=stuck_ranks(state, where, until, patience, policy),
        held=held_ranks(state, where, until, policy),
        launcher=stopped_launcher(state, until, patience),
        unheard=is_unheard(state, now, policy),
        watched=watched if not blind and quiet is not None and watched + policy.signs.fresh < quiet else None,
    )


def signs_of_work(state: State, phase: Phase | None, policy: Policy) -> tuple[tuple[str, float], ...]:
    """Return, by channel, when it last showed work."""
    attempt = state.attempt
    signs: dict[str, float | None] = {
        "start": attempt.began_at,
        "bar": max((bar.moved_at for bar in attempt.bars), default=None),
        "memory": state.gpu.moved_at,
        "gpus": worked_at(state, policy.signs),
        "processes": state.tree_work.moved_at,
        "maps": max(
            (s.moved_at for rank in attempt.ranks for s in rank.shards if s.moved_at is not None), default=None
        ),
    }
    if phase in ("warmup", "serving"):
        signs["log"] = attempt.last_line_at
    else:
        signs["log"] = max((at for at in (state.log.grew_at, attempt.last_line_at) if at is not None), default=None)
    if patience_of(policy, phase).cpu:
        signs["cpu"] = state.tree_cpu.moved_at
    return tuple((name, at) for name, at in signs.items() if at is not None)


def rank_signs(state: State, rank: Rank) -> tuple[tuple[str, float], ...]:
    """Return when each channel last showed something of one rank, the newest first; CPU always."""
    marks: dict[str, float | None] = {
        "log": rank.heard_at,
        "maps": max((shards.moved_at for shards in rank.shards if shards.moved_at is not None), default=None),
        "faults": rank.faults.moved_at,
        "read": rank.read.moved_at,
        "memory": memory_moved_at(state, rank),
        "cpu": rank.cpu.moved_at,
    }
    return tuple(sorted(((name, at) for name, at in marks.items() if at is not None), key=lambda sign: -sign[1]))


def rank_quiet(rank: Rank, now: float, *, cpu: bool) -> float | None:
    """Return the seconds since a rank last showed work of its own, or None where it never did; `cpu`: CPU is work."""
    marks = [rank.heard_at, rank.faults.moved_at, rank.read.moved_at, *(shards.moved_at for shards in rank.shards)]
    if cpu:
        marks.append(rank.cpu.moved_at)
    seen = [at for at in marks if at is not None]
    return max(0.0, now - max(seen)) if seen else None


def patience_of(policy: Policy, phase: Phase | None) -> Patience:
    """Return the patience with a phase."""
    default = policy.patience["default"]
    return policy.patience.get(phase, default) if phase is not None else default


def phase_patience(state: State, where: Position, policy: Policy) -> Patience:
    """Return the patience with what the start does now."""
    return patience_of(policy, "download" if _may_download(state, where) else where.phase)


def enough_watched(patience: Patience, policy: Policy) -> float:
    """Return the seconds for which processes must be watched before silence from before that counts as theirs, too."""
    return min(policy.signs.watched, patience.stalled / 4)


def compilers(state: State, policy: Policy) -> Mark:
    """Return how many compilers of the tree run, and when one of them last worked."""
    found = [mark for comm, mark in state.children if comm in policy.compilers]
    moved = max((mark.moved_at for mark in found if mark.moved_at is not None), default=None)
    return Mark(sum(mark.value for mark in found), moved)


def compilers_at_work(state: State, now: float, policy: Policy) -> int:
    """Return how many compilers of the tree run, when one of them showed work a moment ago."""
    known = compilers(state, policy)
    return int(known.value) if _recent(known.moved_at, now, policy) else 0


def spins_explain_cpu(state: State, where: Position, now: float, policy: Policy) -> bool:
    """Say whether all CPU in use is that of ranks which can only be waiting.

    A rank waits when it has ended the step that others have not, or when its GPU is full at idle power.
    """
    waits = where.step.done if where.step is not None and not where.step.complete else frozenset()
    if any(_recent(mark.moved_at, now, policy) for _, mark in state.children):
        return False
    using = [rank for rank in state.attempt.ranks if rank.gone_at is None and _recent(rank.cpu.moved_at, now, policy)]
    return all(rank.rank in waits or is_spinning(state, rank.gpu, policy.signs, now) for rank in using)


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


def judged_at(state: State, now: float, policy: Policy) -> float:
    """Return until when silence is counted: of processes that were sampled nothing is known since the last sample.

    That another channel, the log or the GPUs, was heard later says nothing of them.
    """
    return state.sampled_at if state.sampled_at is not None and is_unheard(state, now, policy) else now


def seen_until(state: State, now: float, policy: Policy) -> float:
    """Return until when the quiet of a single rank is counted: up to the last sample, however the samples ended."""
    if state.sampled_at is None or now - state.sampled_at <= policy.stale_after:
        return now
    return state.sampled_at


def is_blind(state: State) -> bool:
    """Say whether only the log can be seen: no process ever was, or their channel is closed."""
    return state.sampled_at is None or any(channel == "processes" for channel, _ in state.closed)


def is_unheard(state: State, now: float, policy: Policy) -> bool:
    """Say whether samples of the processes should come and do not; a lost connection closes the log as well."""
    if state.sampled_at is None or now - state.sampled_at <= policy.stale_after:
        return False
    return not is_blind(state) or state.link.status == "lost"


def _watched(state: State) -> float:
    if state.arrived_at is None or state.sampled_at is None:
        return 0.0
    return max(0.0, state.sampled_at - state.arrived_at)


def _may_download(state: State, where: Position) -> bool:
    """A name on the model hub: vLLM fetches it within the load, without a bar, before the first shard is drawn."""
    model = state.attempt.model
    if where.phase != "weights" or state.attempt.engine != "vllm" or not model or model[:1] in "/.~":
        return False
    return not any(bar.kind == "shards" for bar in state.attempt.bars)


def _recent(at: float | None, now: float, policy: Policy) -> bool:
    return at is not None and now - at <= policy.signs.fresh
