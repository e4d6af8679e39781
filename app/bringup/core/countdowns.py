"""Time limits that run: how long an engine or a library still waits before it ends the start by itself.

Which limits there are is data (engines/countdowns.toml). Here is found which of them holds for this launch, when it
began, and for whom it waits. A limit that ought to have ended the start and did not is not the one that holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bringup.core.phases import Position, Step, time_of
from bringup.core.policy import Limit, Policy
from bringup.core.state import Attempt, State
from bringup.core.verdict import Countdown
from bringup.core.versions import is_within

_GRACE = 15.0
"""Seconds after its end for which a limit is still shown: stamps are of whole seconds, and giving up takes a while."""


@dataclass(frozen=True, slots=True)
class _Start:
    at: float
    waits_for: tuple[int, ...] = ()


def countdown(state: State, where: Position, now: float, policy: Policy) -> Countdown | None:
    """Return the time limit that runs out first, or None while none is known to run."""
    running: dict[str, Countdown] = {}
    for limit in policy.limits:
        if limit.name in running or not _holds(limit, state, where):
            continue
        seconds = getattr(state.attempt, limit.set_by) if limit.set_by else None
        length = float(seconds) if seconds else limit.seconds
        first = min(_starts(limit, state.attempt, where), key=lambda start: start.at, default=None)
        if first is not None and now - first.at <= length + _GRACE:
            note = "" if seconds else limit.note
            running[limit.name] = Countdown(limit.name, first.at + length - now, length, first.waits_for, note)
    return min(running.values(), key=lambda known: known.left_s, default=None)


def is_urgent(countdown: Countdown | None) -> bool:
    """Say whether less than half of a time limit is left."""
    return countdown is not None and countdown.left_s < countdown.limit_s / 2


def holds_for(limit: Limit, version: str | None) -> bool:
    """Say whether a limit holds for a version; for one that is not known, when the newest one has it."""
    return not limit.until if version is None else is_within(version, limit.since, limit.until)


def _holds(limit: Limit, state: State, where: Position) -> bool:
    attempt = state.attempt
    if where.phase == "serving" or (limit.phase is not None and limit.phase != where.phase):
        return False
    if limit.engine and limit.engine != attempt.engine:
        return False
    if limit.engine and not holds_for(limit, attempt.version):
        return False
    if limit.needs == "gpus":
        return bool(state.gpu.gpus)
    return limit.needs != "servers" or attempt.servers > 1


def _starts(limit: Limit, attempt: Attempt, where: Position) -> Iterator[_Start]:
    match limit.starts:
        case "launch":
            began = attempt.launched_at
        case "milestone":
            began = time_of(attempt, limit.milestone)
        case _:
            yield from _in_steps(limit, attempt, where)
            return
    if began is not None:
        yield _Start(max(began, attempt.last_line_at or began) if limit.renewed else began)


def _in_steps(limit: Limit, attempt: Attempt, where: Position) -> Iterator[_Start]:
    """One for each group of ranks that meet and are not all there."""
    for step in where.steps:
        if step.phase == limit.phase and not step.complete:
            for group in _groups(limit, attempt, step):
                start = _first_end(step, group) if limit.starts == "first-end" else _first_begin(step, group)
                if start is not None:
                    yield start


def _groups(limit: Limit, attempt: Attempt, step: Step) -> list[frozenset[int]]:
    if limit.group == "world":
        return [step.expected]
    groups: dict[int, set[int]] = {}
    for rank in step.expected:
        groups.setdefault(rank // max(1, attempt.tp), set()).add(rank)
    return [frozenset(group) for group in groups.values()]


def _first_end(step: Step, group: frozenset[int]) -> _Start | None:
    ends = [edge.ended for rank, edge in step.edges if rank in group and edge.ended is not None]
    waits_for = tuple(sorted(group - step.done))
    return _Start(min(ends), waits_for) if ends and waits_for else None


def _first_begin(step: Step, group: frozenset[int]) -> _Start | None:
    begins = [edge.began for rank, edge in step.edges if rank in group and edge.began is not None]
    absent = tuple(sorted(group - step.begun)) or tuple(sorted(group - step.done))
    return _Start(min(begins), absent) if begins and absent and len(group) > 1 else None
