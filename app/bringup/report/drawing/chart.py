"""A chart: what is drawn, how large it is, and what it shows in words for those who cannot see it."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.report.harmless import harmless
from bringup.report.markup import Node, element

WIDTH = 960.0
"""Of every chart, in pixels of the drawing; all share the same margins, so that their times stand below each other."""
LEFT, RIGHT = 92.0, 836.0
"""Where the axis of time begins and ends; right of it is room for words."""
_LETTER = 6.1
"""Average width of a letter of 11 px."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One drawing."""

    name: str
    """In one word, unlike that of any other in the same document."""
    title: str
    description: str
    height: float
    content: tuple[Node, ...]


def inline(chart: Chart) -> Node:
    """Return a chart as an element of a page."""
    title, described = f"{chart.name}-title", f"{chart.name}-description"
    return element(
        "svg",
        element("title", chart.title, id=title),
        element("desc", chart.description, id=described),
        *chart.content,
        class_="chart",
        viewBox=f"0 0 {WIDTH:.0f} {chart.height:.0f}",
        role="img",
        aria_labelledby=f"{title} {described}",
    )


def words(x: float, y: float, text: str, kind: str = "", anchor: str | None = None) -> Node:
    """Return text in a drawing."""
    return element("text", text, x=x, y=y, class_=kind or None, text_anchor=anchor)


def rect(x: float, y: float, width: float, height: float, kind: str, radius: float = 0.0, *, says: str = "") -> Node:
    """Return a rectangle, with words that show when it is pointed at."""
    tip = element("title", says) if says else None
    return element("rect", tip, x=x, y=y, width=max(0.5, width), height=height, rx=radius or None, class_=kind)


def fitting(text: str, room: float) -> str:
    """Return as much of a text as has room, "" where that would tell nothing; no secret is cut in two."""
    text, most = harmless(text), int(room / _LETTER)
    if len(text) <= most:
        return text
    return f"{text[: most - 1].rstrip()}…" if most >= 4 else ""


def has_room(text: str, room: float) -> bool:
    """Say whether a text has room."""
    return len(text) * _LETTER <= room
