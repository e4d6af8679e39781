"""How long still: from a phase's own steps, from earlier starts, or from both. A range with its basis, or nothing.

Without earlier starts nobody knows what comes after the current phase: the range is then that of this phase alone, and
says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bringup.core.ahead import ahead
from bringup.core.bars import bar_of
from bringup.core.earlier import Now, Rest, rest
from bringup.core.events import Phase, Role
from bringup.core.pace import Left, bar_left, slowest_left
from bringup.core.phases import Position, timeline
from bringup.core.policy import Policy
from bringup.core.rank import BarState
from bringup.core.state import State
from bringup.core.verdict import PhaseView
from bringup.core.words import duration, names

_NUMBERS = ("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MINUTES, _HOURS = 90.0, 7200.0
"""From so many seconds on, a duration is told in minutes, and in hours."""
_NOTABLY = 1.2
"""By how much a start must be slower than all earlier ones before it is said."""


@dataclass(frozen=True, slots=True)
class Eta:
    """Seconds left, as a range, and what it rests on in words."""

    low: float
    high: float
    basis: str
    until: str = ""
    """What it is the time until, where that is not "ready": "the target weights are loaded"."""


@dataclass(frozen=True, slots=True)
class Foretold:
    """The time left, or why it cannot be told."""

    eta: Eta | None = None
    why_not: str = ""


def estimate(state: State, where: Position, now: float, policy: Policy) -> Foretold:
    """Return the time left until ready where earlier starts tell it, else that of the current phase, else nothing."""
    if where.phase in (None, "serving"):
        return Foretold()
    here = _here(state, where, now)
    moment = _moment(state, where, now, here)
    told = rest(moment, policy.earlier)
    if told is not None and not told.why_not:
        return Foretold(Eta(told.low, told.high, _basis(here, told)))
    if here is None:
        return Foretold(why_not=told.why_not if told is not None else "")
    return Foretold(_this_phase_only(here, state, where))


def current_bar(state: State, where: Position) -> BarState | None:
    """Return the bar of the current phase, of the capture that runs where there are several."""
    if where.step is None:
        return None
    step = where.step
    return bar_of(state.attempt, step.phase, step.role, step.part) or bar_of(state.attempt, step.phase, step.role, "")


def _here(state: State, where: Position, now: float) -> Left | None:
    """What the current phase still takes by its own steps: the bar is that of rank 0, and all wait for the slowest."""
    step, bar = where.step, current_bar(state, where)
    if step is None or step.complete:
        return None
    here = bar_left(bar, now) if bar is not None and 0 not in step.done else None
    slowest = slowest_left(state, step, now) if step.phase == "weights" else None
    if slowest is None or (here is not None and slowest.high <= here.high):
        return here
    return Left(max(slowest.low, here.low if here is not None else 0.0), slowest.high, slowest.basis)


def _moment(state: State, where: Position, now: float, here: Left | None) -> Now:
    views = timeline(state, where, now)
    left = (here.low, here.high) if here is not None else None
    return Now(views, _current(views, where), now, left)


def _current(views: Sequence[PhaseView], where: Position) -> PhaseView | None:
    """The phase that runs, or None between two."""
    step = where.step
    if step is not None and step.complete:
        return None
    running = [view for view in views if not view.ended]
    part = step.part if step is not None else ""
    exact = [view for view in running if (view.phase, view.role, view.part) == (where.phase, where.role, part)]
    return next(iter(exact), running[-1] if running else None)


def _basis(here: Left | None, told: Rest) -> str:
    totals = told.totals
    count = _NUMBERS[len(totals)] if len(totals) < len(_NUMBERS) else str(len(totals))
    which = f"last {count} starts" if len(totals) > 1 else "last start"
    slower = f", this one {told.slower:.1f} times slower so far" if told.slower >= _NOTABLY else ""
    known = f"{which}: {_span(min(totals), max(totals))}{slower}"
    return f"{here.basis}; what follows by the {known}" if here is not None else known


def _span(low: float, high: float) -> str:
    """Return a range of durations in one unit, "4-11 min"; a single duration where the ends are alike."""
    unit, size = ("s", 1) if high < _MINUTES else ("min", 60) if high < _HOURS else ("h", 3600)
    first, last = round(low / size), round(high / size)
    return f"{first}-{last} {unit}" if first < last else duration(high)


def _this_phase_only(here: Left, state: State, where: Position) -> Eta:
    after = ahead(state.attempt, where)
    follows = f"; then {names(after)} follow{'s' if len(after) == 1 else ''}" if after else ""
    what = _called(where.phase, where.role)
    return Eta(here.low, here.high, f"{here.basis}, for {what} only{follows}", until=what)


def _called(phase: Phase | None, role: Role | None) -> str:
    what = {"graphs": "the graphs", "compile": "the compilation", "kv-cache": "the KV cache"}.get(
        phase or "", f"the {phase}"
    )
    return f"{what} of the {role}" if role is not None else what
