"""Bars with a resolution of an eighth of a cell, stacked bars, sparklines."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.verdict import RankView
from bringup.ui.paint.row import Row

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"
DONE, SOLID, READ, OPENED, GROWN, INFERRED, TRACK, UNKNOWN = "▆", "█", "▓", "░", "■", "╱", "─", "·"
"""Done; proven by its own log; read, as its maps show; opened, perhaps not read; as its GPU memory grew; implied; still
to come; unknown."""
_TEXTURES = {"maps": (READ, "observed"), "memory": (GROWN, "grown"), "peers": (INFERRED, "inferred")}


def solid(share: float, width: int, ink: str) -> Row:
    """Return a bar of solid eighths; it is full only when the share is 1."""
    eighths = width * 8 if share >= 1 else min(width * 8 - 1, int(max(0.0, share) * width * 8))
    whole, rest = divmod(eighths, 8)
    done = SOLID * whole + (_EIGHTHS[rest] if rest else "")
    return ((done, ink), (TRACK * (width - len(done)), "track"))


def cells(share: float, width: int) -> int:
    """Return how many whole cells a share fills: all of them only when it is 1, one as soon as it is more than none."""
    if share >= 1:
        return width
    return max(min(width - 1, int(share * width)), 1 if share > 0 else 0)


def rank_bar(view: RankView, width: int, ink: str = "") -> Row:
    """Return the bar of a rank: its texture says where the number came from, `ink` marks trouble."""
    if view.progress is None and view.opened is None:
        return ((UNKNOWN * width, "track"),)
    share = view.progress or 0.0
    if share >= 1 and view.source == "log":
        return ((DONE * width, ink or "proven-done"),)
    if view.source == "log":
        return solid(share, width, ink or "proven")
    texture, own = _TEXTURES.get(view.source, _TEXTURES["peers"])
    read = cells(share, width)
    ahead = max(0, cells(view.opened or 0.0, width) - read)
    return (
        (texture * read, ink or own),
        (OPENED * ahead, "opened"),
        (TRACK * (width - read - ahead), "track"),
    )


def stacked(parts: Sequence[tuple[int, str, str]], total: int, width: int) -> Row:
    """Return a bar of (amount, texture, ink) parts one after the other, to the nearest cell.

    Whatever holds a hundredth of the whole is seen, so that a small stranger is not rounded away.
    """
    left, row = width, []
    for amount, texture, ink in parts:
        if amount <= 0 or total <= 0 or left <= 0:
            continue
        length = min(left, max(1 if amount * 100 >= total else 0, round(amount * width / total)))
        row.append((texture * length, ink))
        left -= length
    return (*row, (TRACK * left, "track"))


def sparkline(values: Sequence[int], top: int, width: int) -> str:
    """Return the values as small columns, `top` being the highest; where there are too many, some share a column."""
    each = -(-len(values) // max(1, width)) or 1
    heights = [max(values[begin : begin + each]) for begin in range(0, len(values), each)]
    columns = "".join(_LEVELS[min(7, max(0, value) * 8 // max(1, top))] for value in heights)
    return columns.rjust(width)
