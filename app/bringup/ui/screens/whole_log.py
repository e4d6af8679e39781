"""The whole log on its host, read in pages from any place of it: only what is looked at is moved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.session.console import Console
from bringup.session.places import read_place, time_of
from bringup.session.whole_log import WholeLog
from bringup.ui.css import css
from bringup.ui.loglines import pattern_for
from bringup.ui.paging import Paging
from bringup.ui.paint.measures import clock
from bringup.ui.paint.pages import PlaceLook, paint_page_keys, paint_place, paint_trouble
from bringup.ui.widgets.pages import PagesView
from bringup.ui.widgets.painted import Painted

_ASIDE = 20
_ASKS = {"place": "where to: 42%, 4.1 GB, 14:03, 2026-03-02 14:03, a byte", "words": "search the whole log on the host"}
_NO_PLACE = "That names no place. A share (42%), a size (4.1 GB), a time (14:03, 2026-03-02 14:03) or a byte does."


class WholeLogScreen(Screen[None]):
    """Pages of one file; `to_end` leads back to the live log."""

    CSS_PATH = css("reading")
    AUTO_FOCUS = "#rows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("ctrl+d", "half(1)", show=False),
        Binding("ctrl+u", "half(-1)", show=False),
        Binding("g,home", "begin", show=False),
        Binding("G,end", "live", show=False),
        Binding("p,percent_sign", "ask('place')", show=False),
        Binding("slash", "ask('words')", show=False),
        Binding("n", "find(1)", show=False),
        Binding("N", "find(-1)", show=False),
        Binding("right", "aside(1)", show=False),
        Binding("left", "aside(-1)", show=False),
        Binding("c", "copy", show=False),
    ]

    def __init__(self, console: Console, log: WholeLog, to_end: Callable[[], None], *, words: str = "") -> None:
        """Raises ChannelRefused where the log is no file."""
        super().__init__()
        self._session = console
        self._log = log
        self._to_end = to_end
        self._words = words
        self._paging = Paging(log.pages())
        self._window = self._paging.window
        self._begin: Callable[[], None] = self.action_begin
        self._asks = ""
        self._busy = ""
        self._trouble = ""

    def beginning_at(self, offset: int | None, *, before: bool = False, ask: bool = False) -> WholeLogScreen:
        """Begin at a byte, marked, or with what is `before` it; at the end for None; `ask` where to go."""

        def begin() -> None:
            if offset is None:
                self._work("reading", self._paging.end)
            elif before:
                self._work("reading", partial(self._paging.before, offset))
            else:
                self.go_to(offset)
            if ask:
                self.action_ask("place")

        self._begin = begin
        return self

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Painted(id="place")
        yield Painted(id="trouble")
        yield PagesView(self._window, id="rows")
        yield Input(id="ask", compact=True)
        yield Painted(id="page-keys")

    def on_mount(self) -> None:
        """Read the first page."""
        self.view.search = pattern_for(self._words) if self._words else None
        self.draw()
        self.call_after_refresh(self._begin)

    async def on_unmount(self) -> None:
        """Close the file."""
        await self._paging.pages.close()

    @property
    def view(self) -> PagesView:
        """The rows."""
        return self.query_one(PagesView)

    # --- drawing ---

    def on_resize(self) -> None:
        """Draw to the new width."""
        self.draw()

    def draw(self) -> None:
        """Paint what is in view, and where that is."""
        width, window = self.app.size.width, self._window
        below = window.rows[window.top + self.view.size.height :]
        look = PlaceLook(
            path=self._paging.pages.path,
            place=window.place,
            below=below[0].offset if below else window.end,
            size=window.size,
            clock=self._clock(),
            busy=self._busy,
            search=self._words,
        )
        self.query_one("#place", Painted).show(paint_place(look, width))
        trouble = self.query_one("#trouble", Painted)
        trouble.display = bool(self._trouble)
        trouble.show([paint_trouble(self._trouble, width)])
        self.query_one("#page-keys", Painted).show([paint_page_keys(width)])
        self.view.refresh()

    def _clock(self) -> str:
        state, now = self._session.state, self._session.now()
        for row in self._window.rows[self._window.top : self._window.top + 40]:
            at = time_of(row.text, now, state.utc_offset)
            if at is not None:
                return clock(at, state.utc_offset)
        return ""

    # --- asking the host ---

    def _work(self, busy: str, work: Callable[[], Awaitable[None]]) -> None:
        self._busy, self._trouble = busy, ""
        self._paging.height = max(1, self.view.size.height)
        self.draw()
        self.run_worker(self._guarded(work), name="pages", group="pages", exclusive=True)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
            self._trouble = self._trouble or self._paging.trouble
        except BringupError as error:
            self._trouble = str(error)
        finally:
            self._busy = ""
            if self.is_mounted:
                self.draw()

    async def _find(self, step: int) -> None:
        start = self._window.next_line() if step > 0 else self._window.this_line()
        found = await self._log.find(self._paging.pages.path, self._words, start, step)
        if found is None:
            self._trouble = f"{clean_text(self._words)} is not {'below' if step > 0 else 'above'} here."
            return
        await self._paging.around(found)

    async def _find_time(self, when: float) -> None:
        state, now = self._session.state, self._session.now()
        dated = partial(time_of, near=now, utc_offset=state.utc_offset)
        await self._paging.at_time(when, dated)

    # --- moving ---

    def go_to(self, offset: int) -> None:
        """Show the line at a byte, marked, with what stands before it."""
        self._work("reading", partial(self._paging.around, offset))

    def _scroll(self, amount: int) -> None:
        if self._busy:
            self._paging.pending += amount
            return
        left = self._window.scroll(amount, self.view.size.height)
        if left > 0 or (left < 0 and self._window.begin > 0):
            self._work("reading", partial(self._paging.go_on, left))
        else:
            self.draw()

    def action_move(self, amount: int) -> None:
        """Scroll by one line."""
        self._scroll(amount)

    def action_page(self, amount: int) -> None:
        """Scroll by one page."""
        self._scroll(amount * max(1, self.view.size.height - 1))

    def action_half(self, amount: int) -> None:
        """Scroll by half a page."""
        self._scroll(amount * max(1, self.view.size.height // 2))

    def action_begin(self) -> None:
        """Go to the first byte."""
        self._work("reading", partial(self._paging.at, 0))

    def action_live(self) -> None:
        """Go back to the end of the live log."""
        self._to_end()

    def action_aside(self, amount: int) -> None:
        """Move along lines that are cut at the edge."""
        self.view.aside = max(0, self.view.aside + amount * _ASIDE)
        self.view.refresh()

    def action_copy(self) -> None:
        """Copy what is in view."""
        self.app.copy_to_clipboard(self.view.visible_text())

    def action_close(self) -> None:
        """Put the question aside, or go back."""
        if self._asks:
            self._stop_asking()
        else:
            self.dismiss(None)

    # --- asking the operator ---

    def action_ask(self, what: str) -> None:
        """Ask for a place, or for words."""
        field = self.query_one("#ask", Input)
        self._asks, field.placeholder, field.value = what, _ASKS[what], ""
        self._give_room(asks=True)
        field.focus()

    def _stop_asking(self) -> None:
        self._asks = ""
        self._give_room(asks=False)
        self.view.focus()

    def _give_room(self, *, asks: bool) -> None:
        """The question stands in the place of the keys, so that no row of the log moves."""
        self.query_one("#ask").display, self.query_one("#page-keys").display = asks, not asks

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go where the answer says."""
        asked, text = self._asks, event.value.strip()
        self._stop_asking()
        self._trouble = ""
        if asked == "words":
            self._words = text
            self.view.search = pattern_for(text) if text else None
            self.action_find(1)
        elif text:
            self._go_to_place(text)
        self.draw()

    def _go_to_place(self, text: str) -> None:
        console = self._session
        place = read_place(text, self._window.size, console.now(), console.state.utc_offset)
        if place is None:
            self._trouble = _NO_PLACE
        elif place.when is not None:
            self._work("looking for the time", partial(self._find_time, place.when))
        elif place.offset is not None and place.offset >= self._window.size:
            self._work("reading", self._paging.end)
        elif place.offset is not None:
            self._work("reading", partial(self._paging.at, place.offset))

    def action_find(self, step: int) -> None:
        """Go to the next line with the words, or the one before: the host searches."""
        if self._words:
            self._work("the host searches", partial(self._find, step))
