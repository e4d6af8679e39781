"""One rank as it is shown: how far it is and by which channel, since when it is quiet, and what is wrong with it."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.liveness import patience_of, rank_quiet, rank_signs, seen_until
from bringup.core.phases import Position
from bringup.core.policy import Policy
from bringup.core.progress import IN_STEP, place_of, progress
from bringup.core.ranks import MOST_RANKS, expected_ranks, find, labels_of_rank
from bringup.core.state import Rank, State
from bringup.core.verdict import RankView

_IN_STEP = IN_STEP.partition("{")[0]
_LONG_WAIT = 30.0
"""Seconds without any work in state D beyond which storage hangs; shorter waits are what reading looks like."""


def rank_views(state: State, where: Position, now: float, policy: Policy) -> tuple[RankView, ...]:
    """Return the ranks that are expected or known, in order."""
    numbers = set(expected_ranks(state.attempt) or ()) | {rank.rank for rank in state.attempt.ranks}
    return tuple(
        _view(state, find(state.attempt, number) or Rank(number), where, now, policy)
        for number in sorted(numbers)[:MOST_RANKS]
    )


def in_the_past(views: tuple[RankView, ...]) -> tuple[RankView, ...]:
    """Return the ranks of a start that has ended: what they were doing, they do no longer."""
    return tuple(replace(view, note=_past_note(view)) for view in views)


def _past_note(view: RankView) -> str:
    if view.source == "peers" or view.note.startswith(_IN_STEP):
        return ""
    note = view.note.partition(", waits for ")[0].replace("reads shard", "was at shard")
    return note.replace("maps shard", "had mapped shard")


def _view(state: State, rank: Rank, where: Position, now: float, policy: Policy) -> RankView:
    phase, role, step = place_of(rank, where)
    shown = progress(state, rank, where, step)
    until = seen_until(state, now, policy)
    quiet = _quiet(state, rank, until, now, cpu=patience_of(policy, where.phase).cpu)
    return RankView(
        rank=rank.rank,
        node=rank.node or state.node,
        labels=rank.labels or labels_of_rank(state.attempt, rank.rank),
        pid=rank.pid,
        gpu=rank.gpu,
        phase=phase,
        role=role,
        progress=shown.share,
        source=shown.source,
        quiet_s=quiet,
        opened=shown.opened,
        done=shown.done,
        total=shown.total,
        trouble=_trouble(state, rank, quiet),
        note=shown.note,
        part=step.part if step is not None and step.phase == phase else "",
        signs=tuple((name, max(0.0, until - at)) for name, at in rank_signs(state, rank)),
    )


def _quiet(state: State, rank: Rank, until: float, now: float, *, cpu: bool) -> float | None:
    """Seconds since a rank last showed work; a bar is work of the rank that draws it, whatever the samples do."""
    quiet = rank_quiet(rank, until, cpu=cpu)
    drawn = max((bar.moved_at for bar in state.attempt.bars if bar.owner == rank.rank), default=None)
    if drawn is None:
        return quiet
    since = max(0.0, now - drawn)
    return since if quiet is None else min(quiet, since)


def _went_along(state: State, rank: Rank) -> bool:
    """Say whether a rank has ended with its launcher: nobody has looked since, but what lives on is known."""
    if state.gone_at is None or rank.node not in ("", state.node):
        return False
    return rank.process.pid not in state.orphans if rank.process is not None else not state.orphans


def _trouble(state: State, rank: Rank, quiet: float | None) -> str:
    own = [line for line in state.attempt.faults if line.rank == rank.rank and not line.after_kill]
    if any(not line.secondary for line in own):
        return "error"
    if rank.gone_at is not None:
        zombie = any(p.pid == rank.pid and p.state == "Z" for p in state.processes)
        return "zombie" if zombie else "gone"
    if own:
        return "error"
    if _went_along(state, rank):
        return "gone"
    if rank.process is None:
        return ""
    if rank.process.state == "D" and quiet is not None and quiet >= _LONG_WAIT:
        return "uninterruptible"
    return "stopped" if rank.process.state == "T" else ""
