"""What was shown of each rank's bar, kept in the state so that no later event can make it run backwards.

Channels come and go (a sample without maps, a bar that is drawn anew, a total that was cut short), and each has its own
idea of how far a rank is. The most that any of them has shown stays until the rank's own line ends the phase.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.events import (
    Bar,
    CheckpointSeen,
    Event,
    Fact,
    GpusSeen,
    Launch,
    PhaseBegan,
    PhaseEnded,
    ProcessesSeen,
    Reached,
    ServerFound,
)
from bringup.core.phases import Position, Step, position, time_of
from bringup.core.progress import Progress, place_of, progress, reach_of
from bringup.core.state import Rank, Reach, State

_MOVING: tuple[type[Event], ...] = (
    *(Bar, PhaseBegan, PhaseEnded, Reached, Launch, Fact),
    *(ProcessesSeen, GpusSeen, CheckpointSeen, ServerFound),
)
"""Events that can change what is shown of a rank."""


def remember(state: State, event: Event) -> State:
    """Return the state with what is now shown of each rank kept as the least that will be shown."""
    attempt = state.attempt
    if not isinstance(event, _MOVING) or not attempt.ranks or time_of(attempt, "ready") is not None:
        return state
    where = position(state)
    ranks = tuple(_remembered(state, rank, where) for rank in attempt.ranks)
    if all(new is old for new, old in zip(ranks, attempt.ranks, strict=True)):
        return state
    return replace(state, attempt=replace(attempt, ranks=ranks))


def _remembered(state: State, rank: Rank, where: Position) -> Rank:
    kept = _still_open(rank)
    _, _, step = place_of(rank, where)
    shown = progress(state, rank, where, step)
    if step is None or shown.share is None or shown.share == 1.0:
        return rank if len(kept) == len(rank.reaches) else replace(rank, reaches=kept)
    old = reach_of(rank, step)
    new = _reach(step, shown, shown.share)
    if new == old and len(kept) == len(rank.reaches):
        return rank
    key = (new.phase, new.role, new.part)
    others = tuple(known for known in kept if (known.phase, known.role, known.part) != key)
    return replace(rank, reaches=(*others, new))


def _reach(step: Step, shown: Progress, share: float) -> Reach:
    return Reach(
        phase=step.phase,
        role=step.role,
        part=step.part,
        share=share,
        source=shown.source,
        opened=shown.opened,
        done=shown.done,
        total=shown.total,
    )


def _still_open(rank: Rank) -> tuple[Reach, ...]:
    """What is kept of phases that the rank has not ended; of those that it has, its own line speaks."""
    if not rank.reaches:
        return rank.reaches
    ended = {(edge.phase, edge.role, edge.part) for edge in rank.edges if edge.ended is not None}
    return tuple(known for known in rank.reaches if (known.phase, known.role, known.part) not in ended)
