"""Screens to read: the help, and all the evidence of the verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from bringup.ui.css import css
from bringup.ui.keyed_app import own_keys_of
from bringup.ui.paint.evidence import paint_evidence
from bringup.ui.paint.help import paint_help
from bringup.ui.paint.row import Row, spread
from bringup.ui.picture import Picture
from bringup.ui.widgets.pager import Pager
from bringup.ui.widgets.painted import Painted

_MOST_WIDTH = 110
_AROUND = 5
"""Cells beside the rows: margins and the scroll bar, whether or not there is one."""


class ReadingScreen(Screen[None]):
    """A title and rows that scroll; any key of leaving leaves."""

    CSS_PATH = css("reading")
    AUTO_FOCUS = "#pages"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,v", "close", show=False),
        Binding("j", "line(1)", show=False),
        Binding("k", "line(-1)", show=False),
        Binding("g", "top", show=False),
        Binding("G", "bottom", show=False),
        Binding("space", "page", show=False),
    ]
    heading = ""

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield Painted(id="reading-title")
        yield Pager(id="pages")

    def on_mount(self) -> None:
        """Draw it, so that its first frame shows it already."""
        self.draw()

    def on_resize(self) -> None:
        """Draw the rows to the new width."""
        self.draw()

    def draw(self) -> None:
        """Paint title and rows."""
        pages = self.query_one(Pager)
        right: Row = (("esc", "key"), (" goes back ", "quiet"))
        self.query_one("#reading-title", Painted).show(
            [spread(((f" {self.heading}", "title"),), right, self.app.size.width)]
        )
        pages.show(self.rows(min(_MOST_WIDTH, max(20, self.app.size.width - _AROUND))))

    def rows(self, width: int) -> list[Row]:
        """Return what is to be read."""
        raise NotImplementedError

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)

    def action_line(self, amount: int) -> None:
        """Scroll by a line."""
        self.query_one(Pager).scroll_relative(y=amount, animate=False)

    def action_page(self) -> None:
        """Scroll by a page."""
        self.query_one(Pager).scroll_page_down(animate=False)

    def action_top(self) -> None:
        """Scroll to the beginning."""
        self.query_one(Pager).scroll_home(animate=False)

    def action_bottom(self) -> None:
        """Scroll to the end."""
        self.query_one(Pager).scroll_end(animate=False)


class HelpScreen(ReadingScreen):
    """All keys, textures and states."""

    heading = "Keys"

    def __init__(self, *, read_only: str, replay: bool = False, several: bool = False, connected: bool = True) -> None:
        """`read_only` says why no key touches a server; "" where some do."""
        super().__init__()
        self.read_only = read_only
        self.replay = replay
        self.several = several
        self.connected = connected

    def rows(self, width: int) -> list[Row]:
        """Return the help."""
        own = own_keys_of(self.app)
        return paint_help(
            width,
            read_only=self.read_only,
            replay=self.replay,
            several=self.several,
            own=own,
            connected=self.connected,
        )


class EvidenceScreen(ReadingScreen):
    """All that the verdict rests on, kept up to date."""

    heading = "Evidence"

    def __init__(self, picture: Callable[[], Picture | None]) -> None:
        super().__init__()
        self._picture = picture

    def on_mount(self) -> None:
        """Draw again once a second: ages grow."""
        super().on_mount()
        self.set_interval(1.0, self.draw)

    def rows(self, width: int) -> list[Row]:
        """Return the account of the newest picture."""
        picture = self._picture()
        return paint_evidence(picture, width) if picture is not None else [(("There is no connection yet.", "quiet"),)]
