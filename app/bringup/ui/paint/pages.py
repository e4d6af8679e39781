"""Where one is in a whole log that is read in pages, and the keys that lead through it."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from bringup.core.sanitize import clean_text
from bringup.session.whole_log import Row as LogRow
from bringup.ui.paint.log import paint_line
from bringup.ui.paint.measures import size
from bringup.ui.paint.row import Row, Span, clip, fill, joined, shorten_front, spread, width_of

_KEYS = (
    ("PgUp PgDn", "page"), ("p", "go to"), ("/", "search"), ("n N", "next, before"), ("g", "begin"),
    ("G", "live end"), ("esc", "back"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlaceLook:
    """Where one is."""

    path: str = ""
    place: int = 0
    """Byte at which the top row begins."""
    below: int = 0
    """Byte behind the bottom row."""
    size: int = 0
    clock: str = ""
    """Time that the top rows carry."""
    busy: str = ""
    """What is being asked of the host."""
    search: str = ""


def share(look: PlaceLook) -> str:
    """Return where the top row is, as "42 % of 9.8 GiB"."""
    if not look.size:
        return "empty"
    part = 100 if look.below >= look.size else min(99, round(100 * look.place / look.size))
    return f"{part} % of {size(look.size)}"


def paint_place(look: PlaceLook, width: int) -> list[Row]:
    """Return the line above the pages, and the rule that shows where one is."""
    spans: list[Span] = [(share(look), "strong"), (f"byte {look.place:,}", "quiet"), (look.clock, "quiet")]
    if look.search:
        spans.append((f"/{shorten_front(clean_text(look.search), 24)}", "text"))
    if look.busy:
        spans.append((look.busy, "work"))
    told = joined(spans)
    name = shorten_front(clean_text(posixpath.basename(look.path)), max(8, width - width_of(told) - 6))
    row = ((" ", "text"), (name, "title"), (" · ", "faint"), *told)
    return [clip(row, width), _rule(look, width)]


def paint_trouble(text: str, width: int) -> Row:
    """Return the strip that says what became of the log meanwhile, or what could not be done."""
    return fill(((f" {clean_text(text)}", "notice"),), width, "notice")


def paint_page_keys(width: int) -> Row:
    """Return the last line."""
    row: list[Span] = [(" ", "text")]
    for key, does in _KEYS:
        if width_of((*row, (f"{key} {does}", ""))) <= width:
            row += [(key, "key"), (f" {does}  ", "quiet")]
    return spread(tuple(row), (), width)


def paint_log_row(row: LogRow) -> Row:
    """Return one row of the log, or what stands for a hole in it."""
    if row.hole:
        return ((f"--- bringup: {size(row.hole)} of NULs, passed over ---", "log-warn"),)
    return paint_line(row.text)


def _rule(look: PlaceLook, width: int) -> Row:
    """How far one is, as a rule: what is before the place is drawn heavy, what is in view a block."""
    if not look.size:
        return (("─" * width, "faint"),)
    before = min(width - 1, width * look.place // look.size)
    shown = max(1, min(width - before, -(-width * (look.below - look.place) // look.size)))
    if look.below >= look.size:
        before, shown = width - shown, shown
    return (("━" * before, "quiet"), ("█" * shown, "work"), ("─" * (width - before - shown), "faint"))
