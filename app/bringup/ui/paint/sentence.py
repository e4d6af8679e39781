"""A block that begins with a sign and a word, and beside them a sentence: the verdict, and what comes before any."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from bringup.core.sanitize import clean_text
from bringup.ui.paint.row import Row, wrapped

EDGE = "▌"
"""What every row of such a block begins with, in the ink of its sign."""


_NO_MARKS: Mapping[str, str] = MappingProxyType({})


def paint_sentence(
    head: str, ink: str, text: str, width: int, most: int, marks: Mapping[str, str] = _NO_MARKS
) -> list[Row]:
    """Return the first rows of the block, at most `most`: the sign and the word, and beside them the sentence.

    `marks` are words of it that stand out, with their inks.
    """
    indent = len(head) + 4
    lines = wrapped(clean_text(text), max(10, width - indent - 1), most)
    rows: list[Row] = []
    for number, line in enumerate(lines):
        before = f"{head}  " if number == 0 else " " * (indent - 2)
        rows.append(((f"{EDGE} ", ink), (before, ink), *_marked(line, marks)))
    return rows


def _marked(line: str, marks: Mapping[str, str]) -> Row:
    if not marks:
        return ((line, "strong"),)
    words = "|".join(re.escape(word) for word in sorted(marks, key=len, reverse=True))
    pieces = re.split(rf"(?<!\w)({words})(?!\w)", line)
    return tuple((piece, marks.get(piece, "strong")) for piece in pieces if piece)
