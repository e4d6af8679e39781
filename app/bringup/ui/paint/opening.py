"""What stands on the screen while there is no connection. Loads little: the first frame of the program waits for it."""

from __future__ import annotations

from bringup.core.sanitize import clean_text
from bringup.ui.paint.row import Row, spread, wrapped
from bringup.ui.paint.sentence import EDGE, paint_sentence

OPENING_ROWS = 5
"""Rows of the block."""


def paint_title(title: str, width: int) -> Row:
    """Return the line of identity: what the operator called the host."""
    return spread(((" bringup ", "quiet"), (clean_text(title), "strong")), (), width)


def paint_opening(text: str, hint: str, width: int, height: int, *, failed: bool) -> list[Row]:
    """Return the block: what is being done, or what went wrong and what to do."""
    sign, word, ink = ("✕", "NOT CONNECTED", "bad") if failed else ("○", "CONNECTING", "work")
    rows = paint_sentence(f"{sign} {word}", ink, text, width, max(1, height - 1))
    for line in wrapped(clean_text(hint), width - 4, height - len(rows)):
        rows.append(((f"{EDGE} ", ink), (line, "quiet")))
    return rows + [((EDGE, ink),)] * (height - len(rows))
