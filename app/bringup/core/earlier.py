"""What is left of a start by earlier starts of the same command: from the same moment in each to its ready line.

The moment is the end of the phase that runs (or, between two phases, the next begin or end), so that gaps and phases
that overlap count as they did. A start that is slower than all earlier ones so far widens the range; a phase that has
taken far longer than ever leaves nothing to go by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bringup.core.events import Phase
from bringup.core.policy import PastPhase, PastStart
from bringup.core.verdict import PhaseView
from bringup.core.words import duration

_WIDE, _WIDE_ALONE = 0.12, 0.25
"""By how much the range of earlier starts is widened: by more where there is only one."""
_BEYOND, _GRACE = 1.5, 10.0
"""A phase that took so many times its longest time and so many seconds more is longer than ever."""
_LAST_BIT = 0.2
"""Share of a phase that may still be left of it when it has just become longer than ever."""
_NOTABLE = 3.0
"""Seconds below which a phase is neither slower nor faster than another."""


@dataclass(frozen=True, slots=True)
class Now:
    """This start at a moment: its phases so far, the one that runs, and what its own steps say of that one."""

    views: tuple[PhaseView, ...]
    current: PhaseView | None
    now: float
    left: tuple[float, float] | None = None

    @property
    def spent(self) -> float:
        """Seconds that the running phase has taken."""
        return self.current.seconds if self.current is not None else 0.0


@dataclass(frozen=True, slots=True)
class Rest:
    """What earlier starts say: seconds until ready, or why they say nothing any more."""

    low: float = 0.0
    high: float = 0.0
    totals: tuple[float, ...] = ()
    """What the starts took that this rests on."""
    slower: float = 1.0
    """By how much this start is slower than the slowest of them so far; 1 where it is not."""
    why_not: str = ""


def history_key(phase: str, role: str | None, part: str = "") -> str:
    """Return the name under which a phase's duration is kept: "weights/target", "graphs/draft/decode", "launch"."""
    return "/".join(piece for piece in (phase, role or "", part) if piece)


def durations(starts: Sequence[PastStart]) -> Mapping[str, tuple[float, ...]]:
    """Return what each phase of the newest start took in all of them, newest last."""
    newest = starts[-1].phases if starts else ()
    return {
        phase.key: tuple(past.seconds for start in starts if (past := start.phase(phase.key)) is not None)
        for phase in newest
    }


def rest(moment: Now, starts: Sequence[PastStart]) -> Rest | None:
    """Return what is left by earlier starts; None where none of them did what this one is doing."""
    steps = [step for start in starts if (step := _step(moment, start)) is not None]
    if not steps:
        return None
    wide = _WIDE_ALONE if len(steps) == 1 else _WIDE
    paces = _paces(moment, [step.start for step in steps])
    lengths = [step.length for step in steps]
    spent = moment.spent if moment.current is not None else min(step.waited for step in steps)
    if moment.left is None and spent > _BEYOND * max(lengths) + _GRACE:
        return Rest(why_not=_why_not(moment, lengths))
    totals = tuple(step.start.total for step in steps)
    ends = [_end_of(step, moment, paces, wide) for step in steps]
    return Rest(min(low for low, _ in ends), max(high for _, high in ends), totals, paces.slowest)


@dataclass(frozen=True, slots=True)
class _Step:
    """The same moment in an earlier start."""

    start: PastStart
    length: float
    """Seconds that the phase (or the gap) took there."""
    end: float
    """Seconds from the launch to its end."""
    waited: float
    """Seconds that it has taken in this start."""
    after: tuple[PastPhase, ...]
    """Phases there that have not begun here."""


def _step(moment: Now, start: PastStart) -> _Step | None:
    begun = {_key(view) for view in moment.views}
    after = tuple(phase for phase in start.phases if phase.key not in begun)
    if moment.current is not None:
        past = start.phase(_key(moment.current))
        return _Step(start, past.seconds, past.ended, moment.spent, after) if past is not None else None
    there = {
        (phase.key, over): at for phase in start.phases for over, at in ((False, phase.began), (True, phase.ended))
    }
    here = [((_key(view), False), view.started) for view in moment.views]
    here += [((_key(view), True), view.started + view.seconds) for view in moment.views if view.ended]
    common = [(at, there[mark]) for mark, at in here if mark in there]
    if not common:
        return None
    at, reached = max(common)
    following = min((time for time in (*there.values(), start.total) if time > reached), default=start.total)
    return _Step(start, following - reached, following, max(0.0, moment.now - at), after)


@dataclass(frozen=True, slots=True)
class _Paces:
    """By how much this start is slower (above 1) or faster (below 1) than all earlier ones, by kind of phase."""

    kinds: Mapping[Phase, float]
    overall: float
    """Of all phases so far together; never below 1: a phase that was fast promises nothing of another kind."""

    def of(self, kind: str) -> float:
        """Return the pace of a kind of phase: its own where it is known, else that of the whole start."""
        return next((pace for known, pace in self.kinds.items() if known == kind), self.overall)

    @property
    def slowest(self) -> float:
        """By how much the slowest kind is slower; 1 where none is."""
        return max([1.0, self.overall, *self.kinds.values()])


def _paces(moment: Now, starts: Sequence[PastStart]) -> _Paces:
    spent: dict[Phase, list[tuple[float, str]]] = {}
    for view in moment.views:
        if view.ended:
            spent.setdefault(view.phase, []).append((view.seconds, _key(view)))
        elif view is moment.current and moment.left is not None:
            spent.setdefault(view.phase, []).append((view.seconds + sum(moment.left) / 2, _key(view)))
        elif view is moment.current and all(view.seconds > past for past in _past([_key(view)], starts)):
            spent.setdefault(view.phase, []).append((view.seconds, _key(view)))
    kinds = {
        phase: _ratio(sum(seconds for seconds, _ in told), _past([key for _, key in told], starts))
        for phase, told in spent.items()
    }
    every = [pair for told in spent.values() for pair in told]
    overall = _ratio(sum(seconds for seconds, _ in every), _past([key for _, key in every], starts))
    return _Paces(kinds, max(1.0, overall))


def _past(keys: Sequence[str], starts: Sequence[PastStart]) -> list[float]:
    """What some phases together took in each of the starts that had them all."""
    found = [[start.phase(key) for key in keys] for start in starts]
    return [sum(phase.seconds for phase in phases if phase is not None) for phases in found if None not in phases]


def _ratio(spent: float, past: Sequence[float]) -> float:
    """Return how far outside of the range of earlier starts it is, 1 where it lies within."""
    if not past or min(past) - _NOTABLE <= spent <= max(past) + _NOTABLE:
        return 1.0
    return spent / max(max(past), 1.0) if spent > max(past) else max(spent, 0.1) / max(min(past), 0.1)


def _end_of(step: _Step, moment: Now, paces: _Paces, wide: float) -> tuple[float, float]:
    """The range until ready as one earlier start tells it."""
    if moment.left is not None:
        low, high = moment.left
    else:
        own = max(1.0, paces.of(moment.current.phase)) if moment.current is not None else paces.overall
        low = max(0.0, step.length * (1 - wide) - step.waited)
        high = max(step.length * own * (1 + wide) - step.waited, _LAST_BIT * step.length)
    tail = max(0.0, step.start.total - step.end)
    kinds = [(paces.of(phase.key.partition("/")[0]), phase.seconds) for phase in step.after]
    more = sum((pace - 1) * seconds for pace, seconds in kinds if pace > 1)
    less = sum((1 - pace) * seconds for pace, seconds in kinds if pace < 1)
    return low + max(0.0, tail * (1 - wide) - less), high + tail * (1 + wide) + more


def _why_not(moment: Now, lengths: Sequence[float]) -> str:
    what = f"{moment.current.phase} phase" if moment.current is not None else "wait for the next phase"
    usual = " to ".join(dict.fromkeys((duration(min(lengths)), duration(max(lengths)))))
    return f"the {what} has taken longer than ever before ({usual})"


def _key(view: PhaseView) -> str:
    return history_key(view.phase, view.role, view.part)
