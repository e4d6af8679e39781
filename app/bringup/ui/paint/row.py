"""Rows of text with inks, and how they are cut, filled and wrapped to a width in cells."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len, chop_cells, set_cell_size

Span = tuple[str, str]
"""A text and the name of its ink."""
Row = tuple[Span, ...]

_CUT = "…"


def width_of(row: Row) -> int:
    """Return the width of a row in cells."""
    return sum(cell_len(text) for text, _ in row)


def shorten(text: str, width: int) -> str:
    """Return text cut to at most `width` cells, with an ellipsis where something is missing."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return _CUT[:width]
    return set_cell_size(text, width - 1).rstrip() + _CUT


def shorten_front(text: str, width: int) -> str:
    """Return text cut at its beginning: of a path, the end tells more."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return _CUT[:width]
    kept = text
    while cell_len(kept) > width - 1:
        kept = kept[max(1, cell_len(kept) - width) :]
    return _CUT + kept


def clip(row: Row, width: int) -> Row:
    """Return a row cut to at most `width` cells."""
    left, kept = width, []
    for text, ink in row:
        size = cell_len(text)
        if size > left:
            kept.append((shorten(text, left), ink))
            break
        kept.append((text, ink))
        left -= size
    return tuple(kept)


def fill(row: Row, width: int, ink: str = "text") -> Row:
    """Return a row that is exactly `width` cells wide."""
    row = clip(row, width)
    missing = width - width_of(row)
    return (*row, (" " * missing, ink)) if missing > 0 else row


def spread(left: Row, right: Row, width: int) -> Row:
    """Return a row with something at each end; the left gives way, and the right goes where there is no room at all."""
    room = width - width_of(right)
    if room < 8 or not right:
        return clip(left, width)
    return (*fill(left, room - 1), (" ", "text"), *right)


def wrap(text: str, width: int) -> list[str]:
    """Return text broken at blanks into lines of at most `width` cells."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        for piece in chop_cells(word, max(1, width)) if cell_len(word) > width else [word]:
            joined = f"{line} {piece}" if line else piece
            if cell_len(joined) <= width:
                line = joined
            else:
                lines.append(line)
                line = piece
    return [*lines, line] if line else lines or [""]


def wrapped(text: str, width: int, most: int) -> list[str]:
    """Return at most `most` lines of text; the last one ends in an ellipsis where text is missing."""
    lines = wrap(text, width)
    if len(lines) <= most or most < 1:
        return lines[: max(0, most)]
    return [*lines[: most - 1], shorten(f"{lines[most - 1]} {_CUT}", width)]


def joined(spans: Iterable[Span], between: str = " · ", ink: str = "faint") -> Row:
    """Return the spans that are not empty with a mark between them."""
    row: list[Span] = []
    for text, own in spans:
        if text:
            row += [(between, ink), (text, own)] if row else [(text, own)]
    return tuple(row)


def plain(row: Row) -> str:
    """Return the text of a row."""
    return "".join(text for text, _ in row)
