"""Painted rows that are longer than the screen, and scroll."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from bringup.ui.paint.row import Row
from bringup.ui.widgets.painted import inks_of, strip_of


class Pager(ScrollView, can_focus=True):
    """Rows to read; the arrow keys and the page keys scroll."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Sequence[Row] = ()
        self._inks: dict[str, Style] = {}

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows; where the reader has scrolled to stays."""
        if rows == self.rows:
            return
        self.rows = rows
        self.virtual_size = Size(self.size.width, len(rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line of what is in view."""
        if not self._inks:
            self._inks = inks_of(self.app)
        line = y + self.scroll_offset.y
        if line >= len(self.rows):
            return Strip.blank(self.size.width, self.rich_style)
        return strip_of(self.rows[line], self._inks, self.size.width, self.rich_style)

    def notify_style_update(self) -> None:
        """Forget the inks: the theme may have changed."""
        super().notify_style_update()
        self._inks = {}
