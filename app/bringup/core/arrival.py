"""What a first look proves, and what it does not: every process is new to whoever has just come."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.state import Mark, Rank, State


def without_arrival(state: State, arrived: float | None) -> State:
    """Return the state without the signs of work that are only the first sample's, taken at `arrived`.

    In the first sample of a tree all of its processes are new, which counts as work. A watch that lasts forgets that;
    one look must not take its own arrival for a sign of life. Until there is a second sample nothing is taken away.
    """
    if arrived is None or state.sampled_at is None or state.sampled_at <= arrived:
        return state
    ranks = tuple(_rank(rank, arrived) for rank in state.attempt.ranks)
    same = all(new is old for new, old in zip(ranks, state.attempt.ranks, strict=True))
    return replace(
        state,
        attempt=state.attempt if same else replace(state.attempt, ranks=ranks),
        tree_cpu=_mark(state.tree_cpu, arrived),
        tree_work=_mark(state.tree_work, arrived),
    )


def _rank(rank: Rank, arrived: float) -> Rank:
    if arrived not in (rank.cpu.moved_at, rank.faults.moved_at, rank.read.moved_at):
        return rank
    cpu, faults, read = (_mark(mark, arrived) for mark in (rank.cpu, rank.faults, rank.read))
    return replace(rank, cpu=cpu, faults=faults, read=read)


def _mark(mark: Mark, arrived: float) -> Mark:
    return replace(mark, moved_at=None) if mark.moved_at == arrived else mark
