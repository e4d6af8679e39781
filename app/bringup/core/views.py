"""One rank as a bar: how far it is in the current phase, and which channel says so.

The order of trust: the rank's own log line, then its maps, then (rank 0 only) the bar, then what its peers imply where
nothing else can speak. A bar is never full before the rank's own line says that it is done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bringup.core.bars import bar_of
from bringup.core.edges import open_edge
from bringup.core.events import Phase, Role
from bringup.core.liveness import rank_quiet
from bringup.core.phases import Position, Step
from bringup.core.ranks import MOST_RANKS, expected_ranks, find
from bringup.core.shards import opened
from bringup.core.state import Edge, Rank, Shards, State
from bringup.core.verdict import Origin, RankView

ALMOST = 0.99
"""The most that is shown of a phase without the rank's own proof of its end."""
_IN_STEP = "captures in step with rank 0"
_LONG_WAIT = 30.0
"""Seconds without any work in state D beyond which storage hangs; shorter waits are what reading looks like."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rank is, by the best channel that speaks."""

    share: float | None
    source: Origin
    opened: float | None = None
    done: int | None = None
    total: int | None = None
    note: str = ""


def rank_views(state: State, where: Position, now: float) -> tuple[RankView, ...]:
    """Return the ranks that are expected or known, in order."""
    numbers = set(expected_ranks(state.attempt) or ()) | {rank.rank for rank in state.attempt.ranks}
    return tuple(
        _view(state, find(state.attempt, number) or Rank(number), where, now) for number in sorted(numbers)[:MOST_RANKS]
    )


def in_the_past(views: tuple[RankView, ...]) -> tuple[RankView, ...]:
    """Return the ranks of a start that has ended: what they were doing, they do no longer."""
    return tuple(replace(view, note=_past_note(view)) for view in views)


def _past_note(view: RankView) -> str:
    if view.source == "peers" or view.note == _IN_STEP:
        return ""
    return view.note.partition(", waits for ")[0].replace("reads shard", "was at shard")


def _view(state: State, rank: Rank, where: Position, now: float) -> RankView:
    phase, role, step = _place(rank, where)
    progress = _progress(state, rank, where, step)
    quiet = _quiet(state, rank, where.phase, now)
    return RankView(
        rank=rank.rank,
        node=rank.node or state.node,
        labels=rank.labels,
        pid=rank.pid,
        gpu=rank.gpu,
        phase=phase,
        role=role,
        progress=progress.share,
        source=progress.source,
        quiet_s=quiet,
        opened=progress.opened,
        done=progress.done,
        total=progress.total,
        trouble=_trouble(state, rank, quiet),
        note=progress.note,
    )


def _quiet(state: State, rank: Rank, phase: Phase | None, now: float) -> float | None:
    """Seconds since a rank last showed work; the bar is work of rank 0, for nobody else draws it."""
    quiet = rank_quiet(rank, phase, now)
    if rank.rank != 0 or not state.attempt.bars or _many_worlds(state):
        return quiet
    drawn = max(0.0, now - max(bar.moved_at for bar in state.attempt.bars))
    return drawn if quiet is None else min(quiet, drawn)


def _place(rank: Rank, where: Position) -> tuple[Phase | None, Role | None, Step | None]:
    """The phase a rank is in: its own open one where it is ahead of the others, else the common one."""
    edge = open_edge(rank.edges)
    if edge is None or where.phase in ("warmup", "serving"):
        return where.phase, where.role, where.step
    own = next((s for s in where.steps if (s.phase, s.role, s.part) == (edge.phase, edge.role, edge.part)), where.step)
    two = where.role is not None or edge.role == "draft"
    return edge.phase, edge.role if two and edge.phase != "distributed" else None, own


def _progress(state: State, rank: Rank, where: Position, step: Step | None) -> Progress:
    if where.phase == "serving":
        return Progress(1.0, "log", note="serving")
    if step is None or where.phase == "warmup":
        return Progress(None, "none")
    edge = step.edge(rank.rank)
    if edge is not None and edge.ended is not None:
        return Progress(1.0, "log", note=_done_note(edge))
    if rank.rank not in step.expected:
        return _by_peers(state, step, "follows rank 0, prints nothing itself")
    if edge is None:
        return Progress(None, "none", note="not begun")
    return _by_maps(state, rank, step) or _by_bar(state, rank, step) or _by_lockstep(state, rank, step)


def _by_maps(state: State, rank: Rank, step: Step) -> Progress | None:
    if step.phase != "weights":
        return None
    shards = next((known for known in rank.shards if known.role == step.role), None)
    if shards is None or not shards.seen:
        return None
    total = shards.total or _bar_total(state, step)
    if not total or total < opened(shards):
        return None
    ahead, read = opened(shards), shards.read
    return Progress(
        share=min(ALMOST, read / total),
        source="maps",
        opened=min(ALMOST, max(ahead, read) / total),
        done=read,
        total=total,
        note=_maps_note(shards, ahead, read, total),
    )


def _maps_note(shards: Shards, ahead: int, read: int, total: int) -> str:
    if len(shards.open) == 1 and ahead - read <= 1:
        return f"reads shard {ahead}/{total}"
    return f"shard {ahead}/{total} opened, {read} read"


def _by_bar(state: State, rank: Rank, step: Step) -> Progress | None:
    if rank.rank != 0 or _many_worlds(state):
        return None
    bar = bar_of(state.attempt, step.phase, step.role, step.part) or bar_of(state.attempt, step.phase, step.role, "")
    if bar is None:
        return None
    word = "shard" if bar.kind == "shards" else "step"
    share = max(bar.floor, bar.done / bar.total)
    note = f"{word} {bar.done}/{bar.total}" + (" passed, not yet done" if bar.done == bar.total else "")
    return Progress(min(ALMOST, share), "log", done=bar.done, total=bar.total, note=note)


def _by_lockstep(state: State, rank: Rank, step: Step) -> Progress:
    """Captures run in step on all ranks, for they meet in collectives; loads do not, so nothing is implied there."""
    if step.phase == "graphs" and rank.rank != 0:
        return _by_peers(state, step, _IN_STEP)
    return Progress(None, "none", note="begun")


def _by_peers(state: State, step: Step, note: str) -> Progress:
    first = find(state.attempt, 0)
    seen = _by_bar(state, first, step) if first is not None and step.edge(0) is not None else None
    return replace(seen, source="peers", note=note) if seen is not None else Progress(None, "none", note=note)


def _bar_total(state: State, step: Step) -> int | None:
    bar = bar_of(state.attempt, step.phase, step.role)
    return bar.total if bar is not None and not bar.provisional else None


def _many_worlds(state: State) -> bool:
    """Ordinary data parallelism: every replica draws its own bar, and none says whose it is."""
    return state.attempt.dp > 1 and not state.attempt.dp_attention


def _done_note(edge: Edge) -> str:
    took = edge.seconds
    if took is None and edge.began is not None and edge.ended is not None:
        took = edge.ended - edge.began
    return "done" if took is None else f"done in {took:.1f} s"


def _trouble(state: State, rank: Rank, quiet: float | None) -> str:
    own = [line for line in state.attempt.faults if line.rank == rank.rank and not line.after_kill]
    if any(not line.secondary for line in own):
        return "error"
    if rank.gone_at is not None:
        zombie = any(p.pid == rank.pid and p.state == "Z" for p in state.processes)
        return "zombie" if zombie else "gone"
    if own:
        return "error"
    if rank.process is None:
        return ""
    if rank.process.state == "D" and quiet is not None and quiet >= _LONG_WAIT:
        return "uninterruptible"
    return "stopped" if rank.process.state == "T" else ""
