"""The raw log: the heading that says where it comes from and whose bar is drawn, and the ink of one line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bringup.core.ranks import name_of
from bringup.core.sanitize import clean, clean_text
from bringup.ui.loglines import ERROR, WARNING
from bringup.ui.paint.headings import heading
from bringup.ui.paint.measures import age, count, size
from bringup.ui.paint.row import Row, Span, joined, shorten_front, width_of
from bringup.ui.picture import Picture

_PREFIX = re.compile(r"^(?:\[[^\]]{0,80}\]|\([^)]{0,60}\)|(?:INFO|WARNING|ERROR) [\d:. -]{8,24}\[[^\]]{0,40}\])\s?")
_NONE = {
    "missing": "The server's log cannot be found",
    "denied": "The server's log may not be read",
    "null": "The server writes its log to /dev/null",
    "terminal": "The server writes its log to a terminal",
}


@dataclass(frozen=True, slots=True)
class LogLook:
    """How the pane stands: what its heading says."""

    focused: bool = False
    following: bool = True
    unseen: int = 0
    """Lines that came while it did not follow."""
    wrapped: bool = False
    filter: str = ""
    """Name of the rank whose lines alone are shown."""
    shown: int = 0
    search: str = ""
    matches: int = 0
    alone: bool = False
    """It fills the screen."""


def paint_log_heading(picture: Picture | None, width: int, look: LogLook) -> Row:
    """Return the line above the log."""
    right = _stand(look, waits=picture is not None and _waits(picture))
    room = width - 9 - (width_of(right) + 5 if right else 0)
    left = _filter(look) or (_channel(picture, room) if picture is not None else ())
    return heading(5, "log", width, focused=look.focused, left=left, right=right)


def why_no_log(picture: Picture | None) -> str:
    """Return the sentence that stands where the log would."""
    if picture is None:
        return ""
    told = next((why for channel, why in picture.state.closed if channel == "log"), "")
    if picture.verdict.state == "waiting" and not told:
        others = len(picture.state.others)
        more = f" {count(others, 'server')} of others can be chosen with o." if others else ""
        return f"As soon as a server starts, it is watched, and its log appears here.{more}"
    log = picture.state.log
    why = told or log.note
    if log.kind in _NONE:
        return f"{_NONE[log.kind]}{f': {clean_text(why)}' if why else ''}."
    if why:
        return f"No log: {clean_text(why).rstrip('.')}."
    if not log.path and picture.state.gone_at is not None:
        return "Which log it wrote to is not known here: it had ended when it was looked for."
    return "The log is empty so far." if log.path else "No log was found yet."


def paint_line(raw: bytes) -> Row:
    """Return one log line with the ink of its severity; what every line repeats at its beginning is quiet."""
    text = clean(raw)
    head = _PREFIX.match(text)
    cut = head.end() if head is not None else 0
    ink = "log-error" if ERROR.search(raw) else "log-warn" if WARNING.search(raw) else "text"
    return ((text[:cut], "quiet"), (text[cut:], ink)) if cut else ((text, ink),)


def highlighted(row: Row, search: re.Pattern[bytes] | None) -> Row:
    """Return the row with what was searched for marked."""
    if search is None:
        return row
    wanted = re.compile(search.pattern.decode("utf-8"), search.flags & re.IGNORECASE)
    marked: list[tuple[str, str]] = []
    for text, ink in row:
        at = 0
        for found in wanted.finditer(text):
            if found.end() > found.start():
                marked += [(text[at : found.start()], ink), (found[0], "match")]
                at = found.end()
        marked.append((text[at:], ink))
    return tuple(marked)


def _stand(look: LogLook, *, waits: bool) -> Row:
    spans: list[Span] = []
    if look.search:
        found = count(look.matches, "line") if look.matches else "nothing"
        spans.append(
            (f"/{shorten_front(clean_text(look.search), 20)}: {found}", "slow" if not look.matches else "text")
        )
    if look.wrapped:
        spans.append(("wrapped", "quiet"))
    if look.following:
        spans.append(("waiting for the log", "slow") if waits else ("following", "quiet"))
    else:
        more = f", {count(look.unseen, 'new line')}" if look.unseen else ""
        spans.append((f"paused{more}", "slow"))
    return joined(spans)


def _waits(picture: Picture) -> bool:
    """Tell whether there is nothing to follow now: the log may not be read, is gone, or does not answer."""
    return any(channel == "log" for channel, _ in picture.state.closed)


def _filter(look: LogLook) -> Row:
    if not look.filter:
        return ()
    return (
        (f"only {look.filter}", "slow"),
        (f" · {count(look.shown, 'line')} · ", "quiet"),
        ("esc", "key"),
        (" shows all", "quiet"),
    )


def _channel(picture: Picture, room: int) -> Row:
    log = picture.state.log
    if not log.path and not log.size:
        return ()
    told: list[Span] = [(size(log.size), "quiet")] if log.size else []
    if log.grew_at is not None:
        silent = max(0.0, picture.now - log.grew_at)
        told.append((f"last byte {age(silent)} ago" if silent >= 1 else "last byte just now", "quiet"))
    whose = _bar(picture)
    if whose:
        told.append((whose, "text"))
    if log.kind not in ("", "file"):
        told.append((log.kind, "slow"))
    rest = width_of(joined(told)) + 3
    while told and rest > room - 12:
        told.pop(0)
        rest = width_of(joined(told)) + 3
    path = shorten_front(clean_text(log.path), max(0, room - rest))
    return joined([(path, "text"), *told])


def _bar(picture: Picture) -> str:
    """Whose bar it is that the log draws: it carries neither rank nor model itself."""
    bars = picture.state.attempt.bars
    if not bars or picture.verdict.phase not in ("weights", "graphs", "download", "compile"):
        return ""
    newest = max(bars, key=lambda bar: bar.drawn_at)
    role = f"{newest.role} " if picture.has_draft else ""
    who = name_of(picture.state.attempt, 0)
    return f"bar: {who}, {role}{newest.phase} {newest.done}/{newest.total}"
