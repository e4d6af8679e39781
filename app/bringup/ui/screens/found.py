"""Lines of the log that are not held here, as the host found them; each can be gone to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from bringup.core.sanitize import clean
from bringup.session.whole_log import place_of
from bringup.ui.paint.log import paint_line
from bringup.ui.paint.row import Row
from bringup.ui.screens.reading import ReadingScreen
from bringup.ui.widgets.pager import Pager


class FoundScreen(ReadingScreen):
    """What the host found in the whole log, the newest chosen; `open_at` shows the log at the byte of a line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k,N", "choose(-1)", show=False, priority=True),
        Binding("down,j,n", "choose(1)", show=False, priority=True),
        Binding("enter", "open", show=False, priority=True),
    ]

    def __init__(self, heading: str, lines: Sequence[bytes], words: str, open_at: Callable[[int], None]) -> None:
        super().__init__()
        self.heading = heading
        self._lines = lines
        self._words = words
        self._open_at = open_at
        self._hits = [
            (number, place[0])
            for number, line in enumerate(lines)
            if (place := place_of(line)) is not None and place[1]
        ]
        self._chosen = len(self._hits) - 1

    def on_mount(self) -> None:
        """Draw it, and show the newest of what was searched for."""
        super().on_mount()
        self.call_after_refresh(self.action_bottom)

    def rows(self, width: int) -> list[Row]:
        """Return the lines, those with the words marked, and the one that is chosen."""
        chosen = self._hits[self._chosen][0] if self._hits else -1
        return [self._row(line, chosen=number == chosen) for number, line in enumerate(self._lines)]

    def action_choose(self, step: int) -> None:
        """Choose the next line with the words, or the one before."""
        if not self._hits:
            return
        self._chosen = max(0, min(self._chosen + step, len(self._hits) - 1))
        self.draw()
        pager = self.query_one(Pager)
        pager.scroll_to(y=max(0, self._hits[self._chosen][0] - pager.size.height // 2), animate=False)

    def action_open(self) -> None:
        """Show the log where the chosen line is."""
        if self._hits:
            self._open_at(self._hits[self._chosen][1])

    def _row(self, line: bytes, *, chosen: bool) -> Row:
        mark = ("▸ " if chosen else "  ", "focus")
        if self._words.casefold() in clean(line).casefold():
            return (mark, (clean(line), "match-now" if chosen else "match"))
        return (mark, *paint_line(line))
