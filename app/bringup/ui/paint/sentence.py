"""A block that begins with a sign and a word, and beside them a sentence: the verdict, and what comes before any."""

from __future__ import annotations

from bringup.core.sanitize import clean_text
from bringup.ui.paint.row import Row, wrapped

EDGE = "▌"
"""What every row of such a block begins with, in the ink of its sign."""


def paint_sentence(head: str, ink: str, text: str, width: int, most: int) -> list[Row]:
    """Return the first rows of the block, at most `most`: the sign and the word, and beside them the sentence."""
    indent = len(head) + 4
    lines = wrapped(clean_text(text), max(10, width - indent - 1), most)
    rows: list[Row] = []
    for number, line in enumerate(lines):
        before = f"{head}  " if number == 0 else " " * (indent - 2)
        rows.append(((f"{EDGE} ", ink), (before, ink), (line, "strong")))
    return rows
