"""The phases as a table: what each took, what it took last time, and those that are still to come."""

from __future__ import annotations

from bringup.core.words import duration
from bringup.ui.paint.phases import phase_name, to_come
from bringup.ui.paint.row import Row, Span
from bringup.ui.picture import Picture

_NAME, _TIME = 24, 14


def paint_table(picture: Picture) -> list[Row]:
    """Return one row a phase."""
    verdict = picture.verdict
    last = dict(verdict.ghosts)
    rows: list[Row] = []
    for view in verdict.phases:
        name = f"{view.role} {phase_name(view)}" if view.role else phase_name(view)
        key = "/".join(filter(None, (view.phase, view.role or "", view.part)))
        before: Span = (f"last time {duration(last[key])}" if key in last else "", "quiet")
        mark: Span = ("", "text") if view.ended else ("▸ ", "work")
        rows.append(_row(mark, name, duration(view.seconds), before, "text"))
    for key, seconds in to_come(verdict):
        rows.append(_row(("", "text"), _spoken(key), "to come", (f"last time {duration(seconds)}", "quiet"), "quiet"))
    return rows


def _spoken(key: str) -> str:
    """A history key as a phase is called: "graphs/draft/decode" is the draft's graphs decode."""
    phase, *more = key.split("/")
    role = [word for word in more if word in ("target", "draft")]
    return " ".join([*role, phase, *(word for word in more if word not in role)])


def _row(mark: Span, name: str, took: str, before: Span, ink: str) -> Row:
    head = (mark[0].rjust(2), mark[1])
    return (head, (name.ljust(_NAME), ink), (took.rjust(_TIME), ink), ("   ", "text"), before)
