"""Strips across the screen: a lost connection, old data, an action that is under way. Nothing else shouts."""

from __future__ import annotations

import re

from bringup.core.sanitize import clean_text
from bringup.core.state import Action
from bringup.core.words import duration
from bringup.ui.paint.progress import paint_progress
from bringup.ui.paint.row import Row, fill, spread, wrapped
from bringup.ui.picture import Picture

_ACTIONS = {"stop": "STOP", "restart": "RESTART", "launch": "LAUNCH", "clear": "CLEARING ORPHANS"}
_COUNTS = re.compile(r" in \d+ s\b")
_TRIES = {"connecting": "connecting again now", "refused": "it is not tried again"}
_MOST = 3
"""Rows for what became of an action that failed."""


def paint_notices(picture: Picture, width: int) -> list[Row]:
    """Return the strips that the moment needs, none most of the time."""
    rows = [fill(((f" {text}", ink),), width, ink) for text, ink in _channels(picture)]
    action = picture.state.action
    if action is not None and not action.ended:
        rows.append(_under_way(picture, action, width))
        rows += [((" ", "text"), *row) for row in paint_progress(picture, width - 1)]
    elif action is not None and action.failed and action is not picture.dismissed:
        text = f"{_word(action)} failed  {clean_text(action.step)}"
        rows += [fill(((f" {line}", "notice-bad"),), width, "notice-bad") for line in wrapped(text, width - 2, _MOST)]
    if picture.asking:
        rows.append(fill(((f" DIAGNOSE  {picture.asking}", "notice-work"),), width, "notice-work"))
    return rows


def _under_way(picture: Picture, action: Action, width: int) -> Row:
    """What is done now, and at the right how long until the next step and how long it has taken."""
    told = [f"for {duration(picture.now - action.since)}"]
    if action.until is not None and not _COUNTS.search(action.step):
        told.insert(0, f"{max(0.0, action.until - picture.now):.0f} s left")
    left: Row = ((f" {_word(action)}  {clean_text(action.step)}", "notice-work"),)
    return fill(spread(left, ((f"{' · '.join(told)} ", "notice-work"),), width), width, "notice-work")


def _word(action: Action) -> str:
    return _ACTIONS.get(action.action, action.action.upper())


def _channels(picture: Picture) -> list[tuple[str, str]]:
    link, stale = picture.state.link, picture.verdict.stale_s
    if link.status in ("lost", "refused", "connecting") and (link.why or link.status != "connecting"):
        age = f"what you see is {duration(stale)} old, " if stale is not None else ""
        tries = _TRIES.get(link.status, "it will be tried again")
        why = f"  {clean_text(link.why)}" if link.why else ""
        return [(f"NO CONNECTION  {age}{tries}{why}", "notice-bad")]
    if stale is not None:
        return [(f"OLD DATA  nothing came from the host for {duration(stale)}", "notice")]
    return []
