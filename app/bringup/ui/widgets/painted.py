"""A widget that shows painted rows: the one place where text and ink become what the terminal is sent."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from bringup.core.redact import mask
from bringup.core.sanitize import clean_text
from bringup.ui.paint.row import Row
from bringup.ui.theme import styles

_FADE = Style(dim=True)


def inks_of(app: App[object]) -> dict[str, Style]:
    """Return the styles of all inks under the application's theme."""
    return styles(app.theme_variables, ansi=app.native_ansi_color)


def strip_of(row: Row, inks: dict[str, Style], width: int, base: Style, *, faded: bool = False) -> Strip:
    """Return a row as a strip of exactly `width` cells, made harmless once more whatever the painter did."""
    extra = base + _FADE if faded else base
    calm = {"phase-now": "phase", "phase-bad": "phase"} if faded else {}
    spans = [(clean_text(text), ink) for text, ink in row]
    if mask(whole := "".join([text for text, _ in spans])) is not whole:
        spans = [(mask(text), ink) for text, ink in spans]
        # What was masked only here leaves no gap in a strip across the screen.
        lost = cell_len(whole) - sum(cell_len(text) for text, _ in spans)
        spans.append((" " * max(0, lost), spans[-1][1]))
    segments = [Segment(text, extra + inks[calm.get(ink, ink)]) for text, ink in spans if text]
    return Strip(segments).adjust_cell_length(width, base)


class Painted(Widget):
    """Rows that are replaced as a whole; only those that differ are drawn again."""

    faded = False
    """The rows show how it was, not how it is."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.rows: Sequence[Row] = ()
        self._inks: dict[str, Style] = {}
        self._base = Style.null()

    def show(self, rows: Sequence[Row], *, faded: bool = False) -> None:
        """Show these rows from now on."""
        old, self.rows = self.rows, rows
        if faded != self.faded or len(old) != len(rows):
            self.faded = faded
            self.refresh()
            return
        changed = [Region(0, y, self.size.width, 1) for y, row in enumerate(rows) if row != old[y]]
        if changed:
            self.refresh(*changed)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return some lines; the style below them is reckoned once for all."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one line of the widget."""
        width, base = self.size.width, self._base
        if not self._inks:
            self._inks = inks_of(self.app)
        if y >= len(self.rows):
            return Strip.blank(width, base)
        return strip_of(self.rows[y], self._inks, width, base, faded=self.faded)

    def notify_style_update(self) -> None:
        """Forget the inks: the theme may have changed."""
        super().notify_style_update()
        self._inks = {}


class Panel(Painted, can_focus=True):
    """Painted rows that can have the focus."""
