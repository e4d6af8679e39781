"""Lines of the log that are not held here, as the host found them."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.sanitize import clean
from bringup.ui.paint.log import paint_line
from bringup.ui.paint.row import Row
from bringup.ui.screens.reading import ReadingScreen


class FoundScreen(ReadingScreen):
    """What a question to the host about the whole log has found; the newest is in view first."""

    def __init__(self, heading: str, lines: Sequence[bytes], *, words: str = "") -> None:
        super().__init__()
        self.heading = heading
        self._lines = lines
        self._words = words

    def on_mount(self) -> None:
        """Draw it, and show the newest of what was searched for."""
        super().on_mount()
        if self._words:
            self.call_after_refresh(self.action_bottom)

    def rows(self, width: int) -> list[Row]:
        """Return the lines, those with the words marked."""
        return [self._row(line) for line in self._lines]

    def _row(self, line: bytes) -> Row:
        if self._words and self._words.casefold() in clean(line).casefold():
            return ((clean(line), "match"),)
        return paint_line(line)
