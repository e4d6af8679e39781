"""Strips across the screen: a lost connection, old data, an action that is under way. Nothing else shouts."""

from __future__ import annotations

from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.ui.paint.row import Row, fill
from bringup.ui.picture import Picture

_ACTIONS = {"stop": "STOP", "restart": "RESTART", "launch": "LAUNCH"}


def paint_notices(picture: Picture, width: int) -> list[Row]:
    """Return the strips that the moment needs, none most of the time."""
    return [fill(((f" {text}", ink),), width, ink) for text, ink in _notices(picture)]


def _notices(picture: Picture) -> list[tuple[str, str]]:
    link, stale, action = picture.state.link, picture.verdict.stale_s, picture.state.action
    found: list[tuple[str, str]] = []
    if link.status in ("lost", "refused", "connecting") and (link.why or link.status != "connecting"):
        age = f"what you see is {duration(stale)} old, " if stale is not None else ""
        tries = "connecting again now" if link.status == "connecting" else "it will be tried again"
        why = f"  {clean_text(link.why)}" if link.why else ""
        found.append((f"NO CONNECTION  {age}{tries}{why}", "notice-bad"))
    elif stale is not None:
        found.append((f"OLD DATA  nothing came from the host for {duration(stale)}", "notice"))
    if action is not None and (not action.ended or action.failed):
        word = _ACTIONS.get(action.action, action.action.upper())
        took = "" if action.ended else f" · for {duration(picture.now - action.since)}"
        ink = "notice-bad" if action.failed else "notice-work"
        found.append((f"{word}{' failed' if action.failed else ''}  {clean_text(action.step)}{took}", ink))
    return found
