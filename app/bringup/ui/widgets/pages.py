"""Rows of a whole log: draws what is in view of a window over it."""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from bringup.core.sanitize import clean
from bringup.ui.paint.log import highlighted
from bringup.ui.paint.pages import paint_log_row
from bringup.ui.widgets.painted import inks_of, strip_of
from bringup.ui.window import Window


class PagesView(Widget, can_focus=True):
    """The rows from the top of the window on, as many as fit."""

    def __init__(self, window: Window, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.window = window
        self.search: re.Pattern[bytes] | None = None
        self.aside = 0
        """Cells by which lines are moved to the left."""
        self._inks: dict[str, Style] = {}

    def render_line(self, y: int) -> Strip:
        """Return one line of what is in view."""
        if not self._inks:
            self._inks = inks_of(self.app)
        width, base, place = self.size.width, self.rich_style, self.window.top + y
        if place >= len(self.window.rows):
            return Strip.blank(width, base)
        log_row = self.window.rows[place]
        row = highlighted(paint_log_row(log_row), self.search)
        here = self.window.here is not None and place == self.window.index(self.window.here)
        row = ((("▸" if here else " "), "focus" if here else "text"), *row)
        if here:
            row = tuple((text, "here" if ink in ("text", "quiet") else ink) for text, ink in row)
        strip = strip_of(row, self._inks, sum(cell_len(text) for text, _ in row), base)
        return strip.crop_extend(self.aside, self.aside + width, base)

    def visible_text(self) -> str:
        """Return what is in view as text."""
        rows = self.window.rows[self.window.top : self.window.top + self.size.height]
        return "\n".join(clean(row.text) for row in rows)

    def notify_style_update(self) -> None:
        """Forget the inks: the theme may have changed."""
        super().notify_style_update()
        self._inks = {}
