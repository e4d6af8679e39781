"""The line above a panel: its number and name, what it says in short, and a rule to the edge."""

from __future__ import annotations

from bringup.ui.paint.row import Row, clip, width_of


def heading(number: int, name: str, width: int, *, focused: bool, left: Row = (), right: Row = ()) -> Row:
    """Return the heading of a panel; the number is the key that focuses it."""
    mark = "▸" if focused else "─"
    head: Row = (
        (f"{mark} ", "focus" if focused else "faint"),
        (f"{number} ", "quiet"),
        (f"{name} ", "focus" if focused else "title"),
    )
    head = clip((*head, *left, (" ", "text")) if left else head, width)
    room = width - width_of(head)
    while right and width_of(right) + 5 > room:
        right = right[:-2]
    rule = room - (width_of(right) + 2 if right else 0)
    tail: Row = ((" ", "text"), *right, (" ", "text")) if right else ()
    return (*head, ("─" * max(0, rule), "faint"), *tail)
