"""Strips across the screen: a lost connection, old data, an action that is under way. Nothing else shouts."""

from __future__ import annotations

import re
from math import ceil

from rich.cells import cell_len

from bringup.core.sanitize import clean_text
from bringup.core.state import Action, State
from bringup.core.words import duration, names
from bringup.session.console import Unfinished
from bringup.session.left_over import concerns, has_failed, is_over, under_way
from bringup.ui.paint.progress import paint_progress
from bringup.ui.paint.row import Row, fill, spread, width_of, wrapped
from bringup.ui.picture import OtherNode, Picture

_ACTIONS = {"stop": "STOP", "restart": "RESTART", "launch": "LAUNCH", "clear": "CLEARING ORPHANS"}
_WAITS = "stopping"
"""The step in which the server is waited for, and which can be cut short."""
_COUNTS = re.compile(r" in \d+ s\b")
_TRIES = {"connecting": "connecting again now", "refused": "r tries again"}
_KEY = " u shows it "
_NEXT = " a goes there "
_PID, _TIE = re.compile(r"PID (?=\d)"), "\ue000"
"""A number is not to be broken from what it is: the key stands between two lines."""
_MOST = 3
"""Rows for what became of an action that failed, and for other hosts."""


def paint_notices(picture: Picture, width: int) -> list[Row]:
    """Return the strips that the moment needs, none most of the time."""
    rows = [fill(((f" {text}", ink),), width, ink) for text, ink in _channels(picture)]
    action = picture.state.action
    if action is not None and not action.ended:
        rows.append(_under_way(picture, action, width))
        rows += [((" ", "text"), *row) for row in paint_progress(picture, width - 1)]
    elif picture.left is not None and concerns(picture.left, picture.state):
        rows += _left_over(picture.left, width)
    elif action is not None and _has_failed(picture.state, action) and action is not picture.dismissed:
        text = f"{_word(action.action)} failed  {clean_text(action.step)}"
        rows += [fill(((f" {line}", "notice-bad"),), width, "notice-bad") for line in wrapped(text, width - 2, _MOST)]
    rows += _others(picture, width)
    if picture.asking:
        rows.append(fill(((f" DIAGNOSE  {picture.asking}", "notice-work"),), width, "notice-work"))
    return rows


def _left_over(left: Unfinished, width: int) -> list[Row]:
    """What was left in the middle, as it is now, and the key that leads to it."""
    ink = _ink(left)
    told = _PID.sub(f"PID{_TIE}", f"{_word(left.action)} {clean_text(_became(left))}")
    lines = [line.replace(_TIE, " ") for line in wrapped(told, width - len(_KEY) - 2, _MOST)]
    rows: list[Row] = [((f" {line}", ink),) for line in lines]
    # On the first one: on a small screen there may be no room for the others.
    return [(*fill(rows[0], width - len(_KEY), ink), (_KEY, ink)), *(fill(row, width, ink) for row in rows[1:])]


def _became(left: Unfinished) -> str:
    became = "failed" if has_failed(left) else "was cut off"
    return under_way(left) if left.busy else f"{became} {duration(left.age)} ago: {left.outlook}."


def _ink(left: Unfinished) -> str:
    return "notice-work" if left.busy or is_over(left) else "notice-bad"


def _others(picture: Picture, width: int) -> list[Row]:
    """A row for each other host on which something is done, was left or has failed, and the key that leads there."""
    told = [(other.name, *said) for other in picture.others if (said := _of_other(other)) is not None]
    rows = [
        (*fill(((f" {text}", ink),), width - len(_NEXT), ink), (_NEXT, ink))
        for _, text, ink in told[: _MOST if len(told) <= _MOST else _MOST - 1]
    ]
    if more := [name for name, _, _ in told[len(rows) :]]:
        ink = "notice-bad" if "notice-bad" in {ink for _, _, ink in told[len(rows) :]} else "notice-work"
        rows.append(fill(((f" ALSO on {clean_text(names(more))}{_NEXT}", ink),), width, ink))
    return rows


def _of_other(other: OtherNode) -> tuple[str, str] | None:
    """What there is to tell of a host that is not shown, and its ink; None for nothing."""
    action, left = other.state.action, other.left
    if action is not None and not action.ended:
        took = duration(other.now - action.since)
        return clean_text(f"{_word(action.action)} on {other.name}  for {took}: {action.step}"), "notice-work"
    if left is not None and concerns(left, other.state):
        return clean_text(f"{_word(left.action)} on {other.name} {_became(left)}"), _ink(left)
    if action is not None and _has_failed(other.state, action) and action is not other.dismissed:
        return clean_text(f"{_word(action.action)} on {other.name} failed  {action.step}"), "notice-bad"
    return None


def _under_way(picture: Picture, action: Action, width: int) -> Row:
    """What is done now, and at the right how long until the next step and how long it has taken."""
    told = [f"for {duration(picture.now - action.since)}"]
    if action.until is not None and not _COUNTS.search(action.step):
        told.insert(0, f"{max(0, ceil(action.until - picture.now))} s left")
    if picture.plan is not None and may_hurry(action):
        told.insert(0, "K: kill now?")
    left: Row = ((f" {_word(action.action)}  {clean_text(action.step)}", "notice-work"),)
    if len(told) > 1 and width_of(left) + cell_len(" · ".join(told)) + 2 > width:
        # What is done, and what can be done, tells more than how long it has taken.
        told.pop()
    return fill(spread(left, ((f"{' · '.join(told)} ", "notice-work"),), width), width, "notice-work")


def may_hurry(action: Action) -> bool:
    """Say whether the server is waited for now to end by itself, so that what is left can be killed instead."""
    return not action.ended and action.name == _WAITS


def _has_failed(state: State, action: Action) -> bool:
    """Say whether that is to be told: once another server was started, what became of the old one is of no use."""
    return action.failed and not _is_past(state, action)


def _is_past(state: State, action: Action) -> bool:
    """Say whether another server was started since an action ended."""
    if state.server is None or state.gone_at is not None or action.ended_at is None:
        return False
    return state.server.started_at > action.ended_at


def _word(action: str) -> str:
    return _ACTIONS.get(action, action.upper())


def _channels(picture: Picture) -> list[tuple[str, str]]:
    link, stale = picture.state.link, picture.verdict.stale_s
    if link.status in ("lost", "refused", "connecting") and (link.why or link.status != "connecting"):
        age = f"what you see is {duration(stale)} old, " if stale is not None else ""
        tries = _TRIES.get(link.status, "it will be tried again")
        why = f"  {clean_text(link.why)}" if link.why else ""
        return [(f"NO CONNECTION  {age}{tries}{why}", "notice-bad")]
    if picture.state.log.full:
        mount = clean_text(picture.state.log.full)
        return [(f"DISK FULL  the log cannot grow: what the server writes to {mount} is lost", "notice")]
    if stale is not None:
        return [(f"OLD DATA  nothing came from the host for {duration(stale)}", "notice")]
    return []
