"""One lane a rank: its phases by its own log lines, and within each how far it was at every moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bringup.core.events import Phase
from bringup.core.ranks import find, name_of
from bringup.core.state import Rank
from bringup.core.verdict import RankView
from bringup.core.words import count, duration
from bringup.report.account import Account
from bringup.report.drawing.axis import Axis, clock
from bringup.report.drawing.chart import LEFT, RIGHT, WIDTH, Chart, fitting, has_room, rect, words
from bringup.report.drawing.timeline import cross
from bringup.report.markup import Node, element
from bringup.session.series import Point

MOST = 64
"""Ranks that are drawn."""
_TOP = 6.0
_OPEN = 4.0
"""Pixels that stay free above what has not ended: a rank at 99 % is not done."""
_FEWEST = 4
"""Different shares from which it is worth drawing how a phase that has ended went on."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One phase of one model on one rank."""

    phase: Phase
    role: str
    part: str
    begin: float
    end: float
    ended: bool
    steps: tuple[tuple[float, float], ...] = ()
    """(moment, share of the phase), in order; empty where nothing was seen on the way."""


def ranks_chart(account: Account, axis: Axis) -> Chart | None:
    """Return the drawing; None where no rank is known to have done anything."""
    views = account.verdict.ranks[:MOST]
    lanes = [(view, stretches(account, view.rank, axis)) for view in views]
    if not any(found for _, found in lanes):
        return None
    row = 26.0 if len(views) <= 16 else 18.0 if len(views) <= 32 else 14.0
    parts: list[Node] = []
    y = _TOP
    for view, found in lanes:
        parts += _lane(account, view, found, axis, y, row - 4)
        y += row
    hidden = len(account.verdict.ranks) - len(views)
    grid = axis.drawn(_TOP - 4, y)
    if hidden > 0:
        parts.append(words(WIDTH - 6, y + 14, f"and {count(hidden, 'more rank')}", "soft", "end"))
    return Chart("ranks", "The ranks over time", _told(account, lanes, axis), y + 20, (*grid, *parts))


def stretches(account: Account, rank: int, axis: Axis) -> list[Stretch]:
    """Return what a rank did, by its own lines; where it printed none, by what was shown of it."""
    known = find(account.state.attempt, rank)
    until = min(axis.end, account.verdict.now) if account.verdict.now > axis.begin else axis.end
    found: list[Stretch] = []
    for edge in known.edges if known is not None else ():
        begin = edge.began if edge.began is not None else edge.ended
        if begin is None or not axis.holds(begin):
            continue
        end = edge.ended if edge.ended is not None else until
        steps = _steps(account.points, rank, (edge.phase, edge.role), begin, end)
        found.append(Stretch(edge.phase, edge.role, edge.part, begin, max(begin, end), edge.ended is not None, steps))
    if not found:
        return _seen(account.points, rank)
    return [*_before(found[0], axis), *found, *_after(account, known, axis)]


def _before(first: Stretch, axis: Axis) -> list[Stretch]:
    """The launch, of which a rank prints nothing."""
    return [Stretch("launch", "", "", axis.begin, first.begin, ended=False)] if first.begin > axis.begin else []


def _after(account: Account, rank: Rank | None, axis: Axis) -> list[Stretch]:
    """Serving, as long as the rank is there."""
    up = next((view for view in account.verdict.phases if view.phase == "serving" and view.started > 0), None)
    end = min(axis.end, account.verdict.now)
    if rank is not None and rank.gone_at is not None:
        end = min(end, rank.gone_at)
    return [Stretch("serving", "", "", up.started, end, ended=True)] if up is not None and end > up.started else []


def _steps(
    points: Sequence[Point], rank: int, what: tuple[Phase, str], begin: float, end: float
) -> tuple[tuple[float, float], ...]:
    return tuple(
        (point.at, own.share)
        for point in points
        if begin <= point.at <= end
        for own in point.ranks
        if own.rank == rank and own.share is not None and (own.phase, own.role or "target") == what
    )


def _seen(points: Sequence[Point], rank: int) -> list[Stretch]:
    """The stretches of a rank of which only samples tell."""
    found: list[Stretch] = []
    for point in points:
        own = next((own for own in point.ranks if own.rank == rank), None)
        if own is None or own.phase is None:
            continue
        role = own.role or "target"
        step = ((point.at, own.share),) if own.share is not None else ()
        last = found[-1] if found else None
        if last is not None and (last.phase, last.role) == (own.phase, role):
            found[-1] = Stretch(own.phase, role, "", last.begin, point.at, ended=False, steps=(*last.steps, *step))
        else:
            found.append(Stretch(own.phase, role, "", point.at, point.at, ended=False, steps=step))
    return found


def _lane(
    account: Account, view: RankView, found: Sequence[Stretch], axis: Axis, y: float, height: float
) -> list[Node]:
    known = find(account.state.attempt, view.rank)
    in_trouble = is_in_trouble(account, view)
    name = name_of(account.state.attempt, view.rank)
    middle = y + height / 2 + 4
    parts = [
        rect(LEFT, y, RIGHT - LEFT, height, "lane", 2),
        words(8, middle, fitting(name, LEFT - 16), "strong bad" if in_trouble else "strong"),
    ]
    for stretch in found:
        parts += _stretch(stretch, axis, y, height)
    if in_trouble and found:
        gone = known.gone_at if known is not None else None
        parts += cross(axis.x(gone if gone is not None else found[-1].end), y + height / 2)
    note = _note(view)
    kind = "bad" if in_trouble else "strong" if view.straggler else "soft"
    parts.append(words(RIGHT + 12, middle, fitting(note, WIDTH - RIGHT - 14), kind))
    return parts


def is_in_trouble(account: Account, view: RankView) -> bool:
    """Say whether something is wrong with a rank, other than that all of them were stopped."""
    verdict = account.verdict
    return view.rank in verdict.failed_ranks or (bool(view.trouble) and verdict.state != "stopped")


def _stretch(stretch: Stretch, axis: Axis, y: float, height: float) -> list[Node]:
    begin, end = axis.x(stretch.begin), axis.x(stretch.end)
    model = f" of the {stretch.role}" if stretch.role and stretch.phase != "distributed" else ""
    name = f"{stretch.phase} {stretch.part}".strip()
    says = f"{name}{model}: {duration(stretch.end - stretch.begin)}{'' if stretch.ended else ' so far'}"
    kind = f"p-{stretch.phase}"
    if stretch.ended and len({share for _, share in stretch.steps}) < _FEWEST:
        parts = [rect(begin, y, end - begin, height, kind, 1.5, says=says)]
        parts += [rect(begin, y + height - 3, end - begin, 1, "paper")] if stretch.role == "draft" else []
        inside = has_room(name, end - begin - 8) and height >= 16
        return [*parts, words(begin + 5, y + height / 2 + 4, name, "on")] if inside else parts
    track = rect(begin, y, end - begin, height, f"{kind} track", 1.5, says=says)
    return [track, element("path", d=_area(stretch, axis, y, height), class_=kind)] if stretch.steps else [track]


def _area(stretch: Stretch, axis: Axis, y: float, height: float) -> str:
    """The share that was reached, as steps that never go back."""
    base, reached = y + height, 0.0
    top = height if stretch.ended else height - _OPEN
    path = [f"M{axis.x(stretch.begin):.1f} {base:.1f}"]
    for at, share in stretch.steps:
        reached = max(reached, min(1.0, share))
        path.append(f"H{axis.x(at):.1f}V{base - reached * top:.1f}")
    path.append(f"H{axis.x(stretch.end):.1f}V{base:.1f}Z")
    return "".join(path)


def _note(view: RankView) -> str:
    """What is said of the rank at the end."""
    if view.trouble:
        return view.trouble
    if view.note:
        return view.note.partition(",")[0]
    return f"{view.progress:.0%}" if view.progress is not None else ""


def _told(account: Account, lanes: Sequence[tuple[RankView, list[Stretch]]], axis: Axis) -> str:
    told = []
    for view, found in lanes:
        name = name_of(account.state.attempt, view.rank)
        loads = [stretch for stretch in found if stretch.phase == "weights"]
        ends = [
            f"{stretch.role} weights done at {clock(stretch.end - axis.begin)}" for stretch in loads if stretch.ended
        ]
        note = _note(view)
        told.append(f"{name}: {', '.join([*ends, *([note] if note else [])]) or 'nothing known'}")
    return "; ".join(told)
