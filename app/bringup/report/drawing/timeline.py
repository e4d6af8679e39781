"""The phases of a start on one axis: what the server does, and a lane for each model that it loads."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.verdict import PhaseView, StateName, Verdict
from bringup.core.words import duration
from bringup.report.account import Account
from bringup.report.drawing.axis import Axis, clock
from bringup.report.drawing.chart import LEFT, RIGHT, Chart, fitting, has_room, rect, words
from bringup.report.markup import Node, element

_MODEL = frozenset({"weights", "kv-cache", "compile", "graphs"})
_TOP, _ROW, _GAP, _BLOCK = 6.0, 38.0, 8.0, 32.0
_AT_ONCE = 0.004
"""Share of the axis by which blocks of one row may overlap."""
_MOST = 64
_ENDS: dict[StateName, str] = {"failed": "failed here", "stalled": "stalled here", "stopped": "stopped here"}

Lane = tuple[str, list[list[PhaseView]]]
"""Its name, and the phases of each of its rows."""


def timeline_chart(account: Account, axis: Axis) -> Chart | None:
    """Return the drawing; None where no phase has a time."""
    views = [view for view in account.verdict.phases if view.started > 0][:_MOST]
    if not views:
        return None
    parts: list[Node] = []
    y = _TOP
    for name, rows in _lanes(views, axis):
        height = len(rows) * _ROW
        parts.append(rect(LEFT, y - 3, RIGHT - LEFT, height, "lane", 4))
        parts.append(words(8, y + _BLOCK / 2 + 4, name, "strong"))
        if name != "server":
            busy = sum(view.seconds for row in rows for view in row)
            parts.append(words(RIGHT + 12, y + _BLOCK / 2 + 4, f"{duration(busy)} in all", "soft"))
        for row in rows:
            for view in row:
                parts += _block(account.verdict, view, axis, y)
            y += _ROW
        y += _GAP
    y = _ghosts(account.verdict, axis, y, parts)
    bottom = y - _GAP + 4
    content = (*axis.drawn(_TOP - 4, bottom), *parts) if parts else ()
    return Chart("timeline", "The phases of the start over time", _told(account, axis), bottom + 22, content)


def name_of(view: PhaseView) -> str:
    """Return the name of a phase with the capture that it is."""
    return f"{view.phase} {view.part}".strip()


def _lanes(views: Sequence[PhaseView], axis: Axis) -> list[Lane]:
    found: dict[str, list[PhaseView]] = {}
    for view in views:
        found.setdefault(_lane_of(view), []).append(view)
    order = ("server", "model", "target", "draft")
    return [(name, _rows(found[name], axis)) for name in order if name in found]


def _lane_of(view: PhaseView) -> str:
    if view.phase not in _MODEL:
        return "server"
    return view.role or "model"


def _rows(views: Sequence[PhaseView], axis: Axis) -> list[list[PhaseView]]:
    """What went on at the same time stands in rows below each other."""
    allowed = (axis.end - axis.begin) * _AT_ONCE
    rows: list[list[PhaseView]] = []
    for view in sorted(views, key=lambda view: view.started):
        free = (row for row in rows if row[-1].started + row[-1].seconds - allowed <= view.started)
        row = next(free, None)
        if row is None:
            rows.append([view])
        else:
            row.append(view)
    return rows


def _block(verdict: Verdict, view: PhaseView, axis: Axis, y: float) -> list[Node]:
    begin, end = axis.x(view.started), axis.x(view.started + view.seconds)
    took = duration(view.seconds)
    note = "" if view.ended else _ENDS.get(verdict.state, "still going on" if view.phase != "serving" else "")
    says = f"{name_of(view)}{f' of the {view.role}' if view.role else ''}: {took}{f', {note}' if note else ''}"
    parts = [rect(begin, y, end - begin, _BLOCK - 6, f"p-{view.phase}", 3, says=says)]
    if view.role == "draft":
        parts.append(rect(begin, y + _BLOCK - 10, end - begin, 4, "paper"))
        parts.append(rect(begin, y + _BLOCK - 9, end - begin, 3, f"p-{view.phase}", 1.5))
    if note in _ENDS.values():
        sign = square if verdict.state == "stopped" else cross
        parts += sign(end, y + (_BLOCK - 6) / 2)
    room = end - begin - 12
    name = name_of(view)
    full = f"{name}  {took}"
    label = full if has_room(full, room) else fitting(name, room)
    if label:
        parts.append(words(begin + 6, y + 17, label, "on"))
    return parts


def cross(x: float, y: float) -> list[Node]:
    """Return the sign for an end that should not have been."""
    shape = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
    return [
        element("circle", cx=x, cy=y, r=8.0, class_="paper"),
        element("circle", cx=x, cy=y, r=7.0, class_="bad"),
        element("path", d=shape, stroke="#fff", stroke_width=2.0, stroke_linecap="round", class_="cross"),
    ]


def square(x: float, y: float) -> list[Node]:
    """Return the sign for an end that somebody wanted."""
    return [rect(x - 6, y - 6, 12, 12, "paper", 2), rect(x - 4.5, y - 4.5, 9, 9, "soft", 1)]


def _ghosts(verdict: Verdict, axis: Axis, y: float, parts: list[Node]) -> float:
    """Draw how long the phases of the newest earlier start took; returns where the next lane begins."""
    if not verdict.ghosts:
        return y
    parts.append(words(8, y + 14, "last start", "soft"))
    at = axis.begin
    for name, seconds in verdict.ghosts:
        begin, end = axis.x(at), axis.x(at + seconds)
        at += seconds
        if end - begin < 2:
            continue
        parts.append(rect(begin + 0.5, y, end - begin - 1, 20, "ghost", 3, says=f"{name}: {duration(seconds)}"))
        label = fitting(name, end - begin - 10)
        if label:
            parts.append(words(begin + 6, y + 14, label, "soft"))
    return y + 24 + _GAP


def _told(account: Account, axis: Axis) -> str:
    """The drawing in words."""
    told = []
    for view in account.verdict.phases[:_MOST]:
        if view.started <= 0:
            continue
        of = f" of the {view.role}" if view.role else ""
        going = "" if view.ended else " so far"
        told.append(f"{name_of(view)}{of} from {clock(view.started - axis.begin)}, {duration(view.seconds)}{going}")
    return "; ".join(told)
