"""What a first look proves, and what it does not: every process is new to whoever has just come."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.state import Mark, Rank, State


def without_arrival(state: State) -> State:
    """Return the state for one look that takes two samples: nothing that only the first of them shows is left.

    In the first sample of a tree all of its processes are new, which counts as work. Until there is a second sample
    nothing is taken away. What is left is the log's own age, which then needs a multiple of the phase's patience to be
    a stall (`Signs.unwatched`): of the time before the look the processes tell nothing.
    """
    arrived = state.arrived_at
    if arrived is None or state.sampled_at is None or state.sampled_at <= arrived:
        return state
    ranks = tuple(_rank(rank, arrived) for rank in state.attempt.ranks)
    same = all(new is old for new, old in zip(ranks, state.attempt.ranks, strict=True))
    halted = 0.0 if state.halted_at == arrived else state.halted_at
    attempt = state.attempt if same else replace(state.attempt, ranks=ranks)
    return _still(replace(state, attempt=attempt, halted_at=halted), arrived)


def without_newcomers(state: State, watched: float) -> State:
    """Return the state without what the first sample shows of the whole tree, once it was watched for so many seconds.

    Before that its silence is only as old as the watch, whatever the log says: storage that gives something every
    20 seconds looks dead in between. After it one's own arrival must not be taken for a sign of life.
    """
    arrived = state.arrived_at
    if arrived is None or state.sampled_at is None or state.sampled_at - arrived < watched:
        return state
    return _still(state, arrived)


def _still(state: State, arrived: float) -> State:
    work, cpu = _mark(state.tree_work, arrived), _mark(state.tree_cpu, arrived)
    if work is state.tree_work and cpu is state.tree_cpu:
        return state
    return replace(state, tree_work=work, tree_cpu=cpu)


def _rank(rank: Rank, arrived: float) -> Rank:
    """Since when it was in its state before we came is not known either."""
    if arrived not in (rank.cpu.moved_at, rank.faults.moved_at, rank.read.moved_at, rank.in_state_since):
        return rank
    cpu, faults, read = (_mark(mark, arrived) for mark in (rank.cpu, rank.faults, rank.read))
    since = None if rank.in_state_since == arrived else rank.in_state_since
    return replace(rank, cpu=cpu, faults=faults, read=read, in_state_since=since)


def _mark(mark: Mark, arrived: float) -> Mark:
    return replace(mark, moved_at=None) if mark.moved_at == arrived else mark
