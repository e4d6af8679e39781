"""How fast a bar or a rank advances, and what that leaves of its phase: own steps only, no earlier starts.

tqdm's own estimate averages over the whole bar, so a burst from the page cache followed by slow storage, or a stop,
makes it absurd. Here only the newest steps of one regime count, and a wait much longer than a step means that there is
no basis any more. A loader that reads several files at once fills its bar in bursts: there a burst is one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bringup.core.phases import Step
from bringup.core.rank import BarState
from bringup.core.ranks import find, name_of
from bringup.core.shards import is_unknown, whole
from bringup.core.state import State

_FEWEST_STEPS = 3
_REGIME = 8.0
"""Steps that take so many times longer or shorter than their neighbours belong to another regime."""
_WINDOW = 16
_BURSTS = 32
"""Newest steps among which bursts are looked for."""
_NEWEST = 4
_SPREAD = 0.15
_OWN_SPREAD = 0.25
"""Wider for the pace of one rank: it is the mean since its begin, not that of the newest steps."""
_LONG = 2.0
"""A wait that exceeds the usual step so many times may be the begin of a collapse: it counts as a step then."""


@dataclass(frozen=True, slots=True)
class Left:
    """Seconds that a phase still takes, as a range, and what it rests on in words."""

    low: float
    high: float
    basis: str


@dataclass(frozen=True, slots=True)
class _Move:
    """One advance: how long it took, how many items it brought, when and where it ended."""

    seconds: float
    items: int
    at: float
    done: int

    @property
    def each(self) -> float:
        return self.seconds / self.items


def bar_left(bar: BarState, now: float) -> Left | None:
    """Return the seconds until a bar is full, from its newest steps, or None without a basis."""
    if bar.done >= bar.total or bar.provisional:
        return None
    moves = _moves(bar)
    bursts = _bursts(moves)
    newest = bursts or _regime(moves)
    if len(newest) < (_FEWEST_STEPS - 1 if bursts else _FEWEST_STEPS):
        return None
    last = newest[-1]
    waited = max(0.0, now - last.at)
    slow = _quartile([move.each for move in newest], 3)
    if waited > _REGIME * max(slow * (last.items if bursts else 1), 1.0):
        return None
    paces = [_mean(newest), _mean(newest[-_NEWEST:]), slow]
    typical = last.items if bursts else 1
    if waited > _LONG * slow * typical:
        paces.append((sum(move.seconds for move in newest[-2:]) + waited) / (2 * typical + 1))
    left = bar.total - last.done
    low = min(_quartile([move.each for move in newest], 1), *paces) * left * (1 - _SPREAD)
    high = max(paces) * left * (1 + _SPREAD) + 1.0
    what = f"the last {len(newest)} bursts" if bursts else f"the last {len(newest)} steps"
    return Left(max(0.0, low - waited), max(high - waited, waited if bar.done == last.done else 1.0), _of_bar(what))


def slowest_left(state: State, step: Step, now: float) -> Left | None:
    """Return what the slowest rank that can be told still has to read, at its own pace, or None."""
    known = [_rank_left(state, step, rank, now) for rank in step.missing]
    return max((left for left in known if left is not None), key=lambda left: left.high, default=None)


def slowed_down(bar: BarState) -> tuple[float, float] | None:
    """Return (seconds per item now, before) where a bar has become far slower than it was, else None."""
    moves = _moves(bar)
    now = _regime(moves)
    older = moves[: len(moves) - len(now)]
    if not now or not older or _bursts(moves):
        return None
    usual, current = _middle([move.each for move in older]), _middle([move.each for move in now])
    return (current, usual) if current > _REGIME * max(usual, 0.01) and current > 1.0 else None


def _of_bar(what: str) -> str:
    return f"from {what} of the bar"


def _moves(bar: BarState) -> list[_Move]:
    """The advances of a bar, oldest first; one that went no further brought nothing."""
    pairs = pairwise(bar.steps)
    return [
        _Move(max(0.0, at - before), max(1, done - done_before), at, done)
        for (before, done_before), (at, done) in pairs
    ]


def _regime(moves: Sequence[_Move]) -> list[_Move]:
    """The newest moves that are alike, oldest first: at most so many, and none far from the middle of those after."""
    found: list[_Move] = []
    for move in reversed(moves[-_WINDOW:]):
        if found:
            middle = max(_middle([known.each for known in found]), 0.01)
            each = max(move.each, 0.01)
            if each > _REGIME * middle or each * _REGIME < middle:
                break
        found.append(move)
    return found[::-1]


def _bursts(moves: Sequence[_Move]) -> list[_Move]:
    """The bursts that are over, oldest first, each with the wait before it as one move; nothing where there are none.

    At least three long waits, and short steps after each of them: a single stop in a steady load is no burst, nor are
    slow steps after a fast beginning.
    """
    recent = moves[-_BURSTS:]
    waits = sorted((move.seconds for move in recent), reverse=True)
    if len(waits) <= _FEWEST_STEPS:
        return []
    long = waits[_FEWEST_STEPS - 1] / 2
    starts = [index for index, move in enumerate(recent) if move.seconds >= long and move.seconds > 0]
    groups = [recent[begin:end] for begin, end in pairwise(starts)]
    bursts = [group for group in groups if len(group) > 1]
    if 2 * len(bursts) <= len(groups):
        return []
    if any(_middle([move.seconds for move in group[1:]]) * _REGIME > long for group in bursts):
        return []
    return [
        _Move(sum(m.seconds for m in group), sum(m.items for m in group), group[-1].at, group[-1].done)
        for group in groups
    ]


def _rank_left(state: State, step: Step, number: int, now: float) -> Left | None:
    """What one rank still has to read, at its own pace, where it closes the files that it has read."""
    rank, edge = find(state.attempt, number), step.edge(number)
    shards = next((known for known in rank.shards if known.role == step.role), None) if rank is not None else None
    if shards is None or edge is None or edge.began is None or shards.moved_at is None or is_unknown(shards):
        return None
    total = whole(state, shards) or 0
    if shards.read < max(_FEWEST_STEPS, len(shards.open)) or total <= shards.read:
        return None
    pace, waited = (shards.moved_at - edge.began) / shards.read, max(0.0, now - shards.moved_at)
    if pace <= 0 or waited > _REGIME * max(pace, 1.0):
        return None
    left = (total - shards.read) * pace
    basis = f"from the pace of {name_of(state.attempt, number)}, the slowest rank"
    return Left(max(0.0, left * (1 - _OWN_SPREAD) - waited), max(left * (1 + _OWN_SPREAD) - waited, waited), basis)


def _mean(moves: Sequence[_Move]) -> float:
    return sum(move.seconds for move in moves) / sum(move.items for move in moves)


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _quartile(values: Sequence[float], which: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, which * len(ordered) // 4)]
