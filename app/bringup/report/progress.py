"""How far a start is, as one line: rewritten in place on a terminal, written once a change in a pipe."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from rich.cells import set_cell_size

from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.report.harmless import harmless
from bringup.report.signs import SIGNS

Change = tuple[object, ...]


def change(verdict: Verdict, state: State) -> Change:
    """Return what a new line is written for: another state, phase, role, attempt, or the connection lost or back."""
    link = state.link.status if state.link.status in ("up", "lost") else "lost"
    return (verdict.state, verdict.phase, verdict.role, verdict.attempt, link)


def line(verdict: Verdict, state: State) -> str:
    """Return the moment on the host, where the start is, and the verdict in a sentence."""
    if state.link.status != "up":
        why = state.link.why or "The connection is being made."
        return harmless(f"{_clock(verdict, state)} no connection: {why}")
    return harmless(f"{_clock(verdict, state)} {_where(verdict)}: {verdict.summary}")


def rewritten(verdict: Verdict, state: State, columns: int) -> str:
    """Return the same with its sign, cut to fit one line of a terminal of so many columns."""
    sign = SIGNS[verdict.state][0] if state.link.status == "up" else "!"
    text = f"{sign} {line(verdict, state)}"
    room = max(1, columns - 1)
    cut = set_cell_size(text, room).rstrip()
    return cut if cut == text else f"{set_cell_size(text, room - 1).rstrip()}…"


def _where(verdict: Verdict) -> str:
    if verdict.phase is None:
        return verdict.state
    role = f" ({verdict.role})" if verdict.role is not None and verdict.draft_model else ""
    return f"{verdict.state}, {verdict.phase}{role}"


def _clock(verdict: Verdict, state: State) -> str:
    zone = timezone(timedelta(seconds=round(state.utc_offset))) if state.utc_offset else UTC
    return datetime.fromtimestamp(verdict.now, zone).strftime("%H:%M:%S")
