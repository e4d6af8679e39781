"""The first frame: what the main screen looks like before there is a connection, drawn before anything else is loaded.

Textual and the title are all that it needs. What a session, a verdict and the panels are made of costs as much again,
and is loaded while the operator reads where the console connects to.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.screen import Screen

from bringup.ui.keyed_app import own_keys_of
from bringup.ui.paint.footer import paint_footer
from bringup.ui.paint.headings import heading
from bringup.ui.paint.opening import OPENING_ROWS, paint_opening, paint_title
from bringup.ui.paint.row import Row
from bringup.ui.widgets.painted import Painted


class OpeningScreen(Screen[None]):
    """Says where the console connects to; looks as the main screen does while there is no connection.

    Its stylesheet is the application's: Textual does not read that of the screen it begins with.
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """Lay out the rows."""
        for name, rows in self._rows(self.app.size.width).items():
            painted = Painted(id=name)
            # At once, and not when the size comes: the first layout is then the first frame.
            painted.rows = rows
            yield painted

    def on_resize(self) -> None:
        """Draw the rows to another width."""
        for name, rows in self._rows(self.size.width).items():
            self.query_one(f"#{name}", Painted).show(rows)

    def _rows(self, width: int) -> dict[str, list[Row]]:
        log = heading(5, "log", width, focused=True, right=(("following", "quiet"),))
        return {
            "identity": [paint_title(self._title, width)],
            "verdict": paint_opening(self._text, "", width, OPENING_ROWS, failed=False),
            "log-heading": [log],
            "log": [],
            "footer": [paint_footer(None, width, "log", own_keys_of(self.app))],
        }
