"""What an edit changed of a command line: a sign before each flag, and a colour that says the same."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.redact import mask_argv
from bringup.core.sanitize import clean_text
from bringup.ui.editing import Change, quoted
from bringup.ui.paint.row import Row, shorten

_INKS = {"-": "bad", "+": "ok", " ": "quiet"}


def paint_difference(changes: Sequence[Change], width: int, *, most: int = 1 << 16) -> list[Row]:
    """Return what was taken away and what was put in, at most `most` rows of at most `width` cells; secrets masked."""
    told = [change for change in changes if change.sign != " "]
    rows = [_row(change, width) for change in told]
    if len(rows) > most:
        rows = [*rows[: most - 1], ((f"  and {len(rows) - most + 1} more changes", "quiet"),)]
    return rows


def is_changed(changes: Sequence[Change]) -> bool:
    """Say whether anything is different."""
    return any(change.sign != " " for change in changes)


def _row(change: Change, width: int) -> Row:
    text = clean_text(quoted(mask_argv(change.group)))
    return ((f"{change.sign} ", _INKS[change.sign]), (shorten(text, max(1, width - 2)), _INKS[change.sign]))
