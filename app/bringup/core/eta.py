"""How long still: from the steps a bar was seen to make, and from earlier starts. A range, or nothing.

tqdm's own estimate averages over the whole bar, so a burst from the page cache followed by slow storage, or a stop,
makes it absurd. Here only the newest steps of one regime count, and a wait much longer than a step means that there is
no basis any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.bars import bar_of
from bringup.core.events import Phase, Role
from bringup.core.phases import Position, Step, timeline
from bringup.core.policy import Policy
from bringup.core.ranks import find, name_of
from bringup.core.state import BarState, State

_FEWEST_STEPS = 3
_REGIME = 8.0
"""Steps that take so many times longer or shorter than their neighbours belong to another regime."""
_WINDOW = 16
_SPREAD = 0.15
_OWN_SPREAD = 0.25
"""Wider for the pace of one rank: it is the mean since its begin, not that of the newest steps."""


@dataclass(frozen=True, slots=True)
class Eta:
    """Seconds left, as a range, and what it rests on in words."""

    low: float
    high: float
    basis: str


def history_key(phase: Phase, role: Role | None, part: str = "") -> str:
    """Return the name under which a phase's duration is kept: "weights/target", "graphs/draft/decode", "launch"."""
    return "/".join(piece for piece in (phase, role or "", part) if piece)


def estimate(state: State, where: Position, now: float, policy: Policy) -> Eta | None:
    """Return the time left until ready where earlier starts tell it, else that of the current bar, else None."""
    if where.phase in (None, "serving"):
        return None
    bar = current_bar(state, where)
    here = None if bar is None or where.step is None or 0 in where.step.done else bar_left(bar, now)
    here = _with_the_slowest(here, state, where, now)
    if not policy.history:
        return here
    rest = _rest(state, where, now, policy, skip_current=here is not None)
    if rest is None:
        return here
    low, high, starts = rest
    basis = f"{starts} earlier start" + ("s" if starts != 1 else "")
    if here is not None:
        return Eta(low + here.low, high + here.high, f"{here.basis}, the phases after it from {basis}")
    return Eta(low, high, basis)


def current_bar(state: State, where: Position) -> BarState | None:
    """Return the bar of the current phase, of the capture that runs where there are several."""
    if where.step is None:
        return None
    step = where.step
    return bar_of(state.attempt, step.phase, step.role, step.part) or bar_of(state.attempt, step.phase, step.role, "")


def bar_left(bar: BarState, now: float) -> Eta | None:
    """Return the seconds until a bar is full, from its newest steps, or None without a basis."""
    left = bar.total - bar.done
    recent = recent_steps(bar)
    if left <= 0 or bar.provisional or len(recent) < _FEWEST_STEPS:
        return None
    waited = max(0.0, now - bar.moved_at)
    ordered = sorted(recent)
    fast, slow = ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4]
    if waited > _REGIME * max(slow, 1.0):
        return None
    mean = sum(recent) / len(recent)
    low = min(fast, mean) * left * (1 - _SPREAD)
    high = max(slow, mean) * left * (1 + _SPREAD) + 1.0
    return Eta(max(0.0, low - waited), max(high - waited, waited), f"from the last {len(recent)} steps of the bar")


def _with_the_slowest(here: Eta | None, state: State, where: Position, now: float) -> Eta | None:
    """The time that the slowest rank takes: the bar is that of rank 0, and all ranks wait for the last one."""
    step = where.step
    if step is None or step.phase != "weights":
        return here
    known = [_rank_left(state, step, rank, now) for rank in step.missing]
    slowest = max((eta for eta in known if eta is not None), key=lambda eta: eta.high, default=None)
    if slowest is None or (here is not None and slowest.high <= here.high):
        return here
    return Eta(max(slowest.low, here.low if here is not None else 0.0), slowest.high, slowest.basis)


def _rank_left(state: State, step: Step, number: int, now: float) -> Eta | None:
    """What one rank still has to read, at its own pace, where it closes the files that it has read."""
    rank, edge = find(state.attempt, number), step.edge(number)
    shards = next((known for known in rank.shards if known.role == step.role), None) if rank is not None else None
    if shards is None or edge is None or edge.began is None or shards.moved_at is None:
        return None
    bar = bar_of(state.attempt, step.phase, step.role)
    total = shards.total or (bar.total if bar is not None and not bar.provisional else 0)
    if shards.read < max(_FEWEST_STEPS, len(shards.open)) or total <= shards.read:
        return None
    pace, waited = (shards.moved_at - edge.began) / shards.read, max(0.0, now - shards.moved_at)
    if pace <= 0 or waited > _REGIME * max(pace, 1.0):
        return None
    left = (total - shards.read) * pace
    basis = f"from the pace of {name_of(state.attempt, number)}, the slowest rank"
    return Eta(max(0.0, left * (1 - _OWN_SPREAD) - waited), max(left * (1 + _OWN_SPREAD) - waited, waited), basis)


def recent_steps(bar: BarState) -> list[float]:
    """Return the seconds per item of the newest steps of one regime, newest first."""
    found: list[float] = []
    pairs = list(zip(bar.steps, bar.steps[1:], strict=False))[-_WINDOW:]
    for (before, done_before), (at, done) in reversed(pairs):
        each = (at - before) / max(1, done - done_before)
        if found:
            middle = max(sorted(found)[len(found) // 2], 0.01)
            if max(each, 0.01) > _REGIME * middle or max(each, 0.01) * _REGIME < middle:
                break
        found.append(each)
    return found


def slowed_down(bar: BarState) -> tuple[float, float] | None:
    """Return (seconds per item now, before) where a bar has become far slower than it was, else None."""
    now = recent_steps(bar)
    pairs = list(zip(bar.steps, bar.steps[1:], strict=False))
    older = pairs[: len(pairs) - len(now)]
    if not now or not older:
        return None
    before = sorted((at - start) / max(1, done - first) for (start, first), (at, done) in older)
    usual, current = before[len(before) // 2], sorted(now)[len(now) // 2]
    return (current, usual) if current > _REGIME * max(usual, 0.01) and current > 1.0 else None


def _rest(
    state: State, where: Position, now: float, policy: Policy, *, skip_current: bool
) -> tuple[float, float, int] | None:
    """What earlier starts took for the phases that are not over, less what the current one has taken already."""
    views = timeline(state, where, now)
    over = {history_key(view.phase, view.role, view.part) for view in views if view.ended}
    running = {history_key(view.phase, view.role, view.part): view.seconds for view in views if not view.ended}
    low = high = 0.0
    starts = 0
    for key, took in policy.history.items():
        if not took or key in over or key == "serving" or (where.phase == "warmup" and key != "warmup"):
            continue
        if key in running and skip_current:
            continue
        spent = running.get(key, 0.0)
        wide = 0.2 if len(took) == 1 else 0.1
        low += max(0.0, min(took) * (1 - wide) - spent)
        high += max(0.0, max(took) * (1 + wide) - spent)
        starts = max(starts, len(took))
    return (low, high, starts) if starts and high > 0 else None
