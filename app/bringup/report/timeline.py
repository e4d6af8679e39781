"""The phases as rows of a chart on one axis of time; the draft's are told from the target's by name and colour."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from bringup.core.verdict import PhaseView
from bringup.core.words import duration
from bringup.report.explanation import Explanation

_MOST = 32
_STYLES = {"draft": "magenta"}
_PLAIN = "cyan"
_OVER = {"failed": ("red", "failed here"), "stalled": ("red", "stalled here"), "stopped": ("yellow", "stopped here")}
_FULL, _THIN, _TRACK, _ON = "━", "╸", "─", "╌"
_SERVING = 0.2
"""Serving has no end: it takes at most this share of the axis."""
_NARROWEST = 10


def timeline(explanation: Explanation, width: int) -> list[Text]:
    """Return one row a phase, each `width` columns at most; nothing where no phase was seen."""
    views = explanation.verdict.phases[:_MOST]
    if not views:
        return []
    timed = [view for view in views if view.started > 0]
    names = [f"{view.phase} {view.part}".strip() for view in views]
    roles = [view.role or "" for view in views]
    tooks = [duration(view.seconds) if view.started > 0 else "" for view in views]
    notes = [_note(explanation, view) for view in views]
    name, role, took, note = (max(map(cell_len, column)) for column in (names, roles, tooks, notes))
    lead = name + 2 + (role + 2 if role else 0)
    room = width - lead - took - 2 - (note + 2 if note else 0)
    axis = _Axis(timed, max(_NARROWEST, room)) if timed else None
    rows = []
    for index, view in enumerate(views):
        row = Text(names[index].ljust(name + 2), no_wrap=True, overflow="ellipsis")
        if role:
            row.append(roles[index].ljust(role + 2), _style(explanation, view))
        if axis is not None:
            row.append_text(axis.bar(view, _style(explanation, view)))
            row.append(f"{tooks[index].rjust(took + 2)}", "bold" if not view.ended else "")
        row.append(f"  {notes[index]}" if notes[index] else "", _note_style(explanation, view))
        row.rstrip()
        rows.append(row)
    return rows


class _Axis:
    """Where seconds lie on a row of columns."""

    def __init__(self, views: list[PhaseView], columns: int) -> None:
        self._columns = columns
        self._origin = min(view.started for view in views)
        ends = [view.started + view.seconds for view in views if view.phase != "serving"]
        self._until = max([*ends, self._origin + 1.0]) - self._origin
        serves = [view.seconds for view in views if view.phase == "serving"]
        if serves:
            self._until += min(max(serves), self._until * _SERVING / (1 - _SERVING))

    def bar(self, view: PhaseView, style: str) -> Text:
        """Return the row of a phase: a track as far as it had not begun, then its time."""
        begin = self._column(view.started - self._origin) if view.started > 0 else 0
        end = self._column(view.started + view.seconds - self._origin)
        begin = min(begin, self._columns - 1)
        row = Text(" " * begin)
        if view.started <= 0:
            return row.append(" " * (self._columns - begin))
        body = _FULL * (end - begin) if end > begin else _THIN
        row.append(body, style)
        if not view.ended and len(body) > 2 and view.phase == "serving":
            row.right_crop(1)
            row.append(_ON, style)
        return row.append(" " * (self._columns - begin - len(body)))

    def _column(self, seconds: float) -> int:
        return max(0, min(self._columns, round(seconds / self._until * self._columns)))


def _style(explanation: Explanation, view: PhaseView) -> str:
    over = _OVER.get(explanation.verdict.state)
    if over is not None and not view.ended:
        return over[0]
    return _STYLES.get(view.role or "", _PLAIN)


def _note(explanation: Explanation, view: PhaseView) -> str:
    """What is said of a phase that has not ended."""
    if view.ended:
        return ""
    over = _OVER.get(explanation.verdict.state)
    counted = _counted(explanation, view)
    if over is not None:
        return over[1]
    return counted or ("" if view.phase == "serving" else "now")


def _counted(explanation: Explanation, view: PhaseView) -> str:
    expected = explanation.verdict.ranks_expected
    if not expected or expected < 2 or not view.ranks_done:
        return ""
    return f"{view.ranks_done} of {expected} ranks"


def _note_style(explanation: Explanation, view: PhaseView) -> str:
    over = _OVER.get(explanation.verdict.state)
    return over[0] if over is not None and not view.ended else "dim"
