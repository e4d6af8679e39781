"""What a replay adds to the screen: where in the recording it is, how fast it goes, and where something changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bringup.session.frames import Mark
from bringup.ui.keys import KEYS
from bringup.ui.own_keys import NO_OWN_KEYS, renamed
from bringup.ui.paint.measures import clock, short_duration
from bringup.ui.paint.row import Row, Span, clip, spread, width_of
from bringup.ui.paint.verdict import SIGNS

ROWS = 2
_PLAYED, _AHEAD, _HERE, _CHANGE, _PHASE = "━", "─", "◆", "┃", "╵"
_UNKNOWN = "faint"


@dataclass(frozen=True, slots=True)
class ReplayLook:
    """How the recording stands."""

    position: float
    """Seconds since its begin, as all times here."""
    end: float
    speed: float
    playing: bool
    marks: Sequence[Mark]
    looked_until: float
    """How far the marks are known."""
    wall: float
    """Epoch seconds of the begin; 0 where they are not known."""
    utc_offset: float


def paint_replay(look: ReplayLook, width: int) -> list[Row]:
    """Return the line of the position, and the bar of the whole recording."""
    return [_line(look, width), clip(((" ", "text"), *_bar(look, max(1, width - 2))), width)]


def paint_replay_footer(width: int, own: Mapping[str, str] = NO_OWN_KEYS) -> Row:
    """Return the keys of a replay, as many as fit."""
    row: list[Span] = [(" ", "text")]
    known = [key for key in renamed(KEYS, own) if key.footer]
    always = [key for key in known if key.id in ("quit", "help")]
    keys = sorted((key for key in known if key.scope == "replay"), key=lambda key: key.footer)
    for key, does in ((key.shown.split()[0], key.does) for key in (*always, *keys)):
        spans = [(key, "key"), (f" {does}  ", "quiet")]
        if width_of((*row, *spans)) > width + 1:
            break
        row += spans
    return tuple(row)


def _line(look: ReplayLook, width: int) -> Row:
    doing = f"▶ playing at {look.speed:g}x" if look.playing else f"‖ paused ({look.speed:g}x)"
    if not look.playing and look.position >= look.end:
        doing = f"■ at its end ({look.speed:g}x)"
    where = f"{short_duration(look.position)} of {short_duration(look.end)}"
    at = clock(look.wall + look.position, look.utc_offset) if look.wall > 0 else ""
    left: Row = ((" ", "text"), (" REPLAY ", "notice-work"), (" ", "text"), (doing, "strong"))
    left = (*left, ("  ", "text"), (where, "text"), (f"  {at}" if at else "", "quiet"))
    ahead = next((mark for mark in look.marks if mark.t > look.position), None)
    says = f"next {ahead.says} in {short_duration(ahead.t - look.position)} " if ahead is not None else ""
    return spread(left, ((says, "quiet"),), width) if width_of(left) + len(says) < width else clip(left, width)


def _bar(look: ReplayLook, width: int) -> list[Span]:
    """Each cell has the ink of the state in it; heavy where it was played, with a line where something changed."""
    here = _cell(look.position, look.end, width)
    known = _cell(look.looked_until, look.end, width)
    marks: dict[int, str] = {}
    before = ""
    for mark in look.marks:
        cell = _cell(mark.t, look.end, width)
        changed = mark.state != before or marks.get(cell, "") == _CHANGE
        marks[cell] = _CHANGE if changed and mark.t > 0 else marks.get(cell, _PHASE if mark.t > 0 else "")
        before = mark.state
    states = _states(look, width)
    row: list[Span] = []
    for cell in range(width):
        ink = states[cell] if cell <= known else _UNKNOWN
        drawn = _HERE if cell == here else marks.get(cell) or (_PLAYED if cell < here else _AHEAD)
        ink = "strong" if cell == here else ink
        if row and row[-1][1] == ink:
            row[-1] = (row[-1][0] + drawn, ink)
        else:
            row.append((drawn, ink))
    return row


def _states(look: ReplayLook, width: int) -> list[str]:
    """Return the ink of the state that each cell ends with."""
    inks = [_UNKNOWN] * width
    for mark in look.marks:
        begin = _cell(mark.t, look.end, width)
        inks[begin:] = [SIGNS[mark.state][1]] * (width - begin)
    return inks


def _cell(t: float, end: float, width: int) -> int:
    share = t / end if end > 0 else 0.0
    return min(width - 1, max(0, int(share * width)))
