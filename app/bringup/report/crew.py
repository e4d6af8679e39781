"""The ranks in few rows: those in trouble and those behind by name, all alike in one row as ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.text import Text

from bringup.core.ranks import name_of
from bringup.core.state import Attempt
from bringup.core.verdict import RankView, Verdict
from bringup.core.words import while_doing

_ORDER: Mapping[str, tuple[str, str]] = {
    "failed": ("✕", "bold red"),
    "in trouble": ("✕", "bold red"),
    "far behind": ("▲", "bold yellow"),
    "not begun": ("·", "bold"),
    "working": ("◐", "cyan"),
    "not done": ("■", "bold red"),
    "no error": ("·", "bold"),
    "up": ("✓", "green"),
    "done": ("✓", "green"),
}
"""What a rank can be, most telling first, with sign and style."""
_MOST_NOTES = 3


def crew(verdict: Verdict, attempt: Attempt) -> list[Text]:
    """Return the rows; nothing for a launch of one rank that has no trouble, or of none that is known."""
    if not verdict.ranks:
        return []
    groups: dict[str, list[RankView]] = {}
    for view in verdict.ranks:
        groups.setdefault(_kind(verdict, view), []).append(view)
    if len(verdict.ranks) == 1 and "failed" not in groups:
        return []
    width = max(map(len, groups))
    rows = []
    for kind, (sign, style) in _ORDER.items():
        views = groups.get(kind)
        if not views:
            continue
        row = Text.assemble((f"{sign} {kind.ljust(width)}  ", style), ranges(attempt, [view.rank for view in views]))
        said = _said(verdict, views)
        row.append(f"  {said}" if said else "", "dim")
        rows.append(row)
    return rows


def ranges(attempt: Attempt, ranks: Sequence[int]) -> str:
    """Return ranks by name, three or more in a row as a range: "TP0 to TP5, TP7"."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    return ", ".join(text for run in runs for text in _run(attempt, run))


def _run(attempt: Attempt, run: Sequence[int]) -> Iterable[str]:
    if len(run) < 3:
        return [name_of(attempt, rank) for rank in run]
    return [f"{name_of(attempt, run[0])} to {name_of(attempt, run[-1])}"]


def _kind(verdict: Verdict, view: RankView) -> str:
    if view.rank in verdict.failed_ranks:
        return "failed"
    if view.trouble and verdict.state != "stopped":
        return "in trouble"
    if view.straggler:
        return "far behind"
    if verdict.phase in ("warmup", "serving") or verdict.state == "standby":
        return "up"
    if view.progress == 1.0:
        return "done"
    if verdict.state in ("failed", "stopped"):
        return "no error"
    if view.note == "not begun":
        return "not begun"
    return "not done" if verdict.state == "stalled" else "working"


def _said(verdict: Verdict, views: Sequence[RankView]) -> str:
    """What they do, and how far a few of them are."""
    first = views[0]
    place = while_doing(first.phase, first.role).removeprefix("while ") if _is_busy(verdict, first) else ""
    counts = [f"{view.done} of {view.total}" for view in views if view.done is not None and view.source == "log"]
    far = f"bar at {counts[0]}" if counts and len(views) <= _MOST_NOTES and _is_busy(verdict, first) else ""
    return ", ".join(filter(None, (place, far)))


def _is_busy(verdict: Verdict, view: RankView) -> bool:
    return _kind(verdict, view) in ("failed", "far behind", "working", "not done") and verdict.phase not in (
        "warmup",
        "serving",
        None,
    )
