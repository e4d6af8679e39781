"""Moves a window over a whole log: reads the pages that it needs, and says what became of the log meanwhile."""

from __future__ import annotations

from bringup.session.whole_log import Dated, LogPages, Page
from bringup.ui.window import Window

_AROUND = 16 << 10
"""Bytes before a line that was found which are read with it."""
_MOVED = "The log was rotated: this is the old file. G goes to the live one."
_CUT = "The log was truncated or written anew meanwhile: what stood here before is gone."


class Paging:
    """A window and the file below it; every method raises ChannelRefused and ConnectionLost as reading does."""

    def __init__(self, pages: LogPages) -> None:
        self.pages = pages
        self.window = Window()
        self.height = 1
        """Rows of the screen."""
        self.trouble = ""
        """What became of the log, as a sentence; empty while all is well."""
        self.pending = 0
        """Rows to go on by, once what is being read is there."""

    async def at(self, offset: int) -> None:
        """Show the log from the line of a byte on."""
        self._show(await self.pages.at(offset))
        await self._fill()

    async def at_time(self, when: float, dated: Dated) -> None:
        """Show the log from a time (epoch seconds) on."""
        self._show(await self.pages.at_time(when, dated))
        await self._fill()

    async def around(self, offset: int) -> None:
        """Show the line that begins at a byte, marked, with lines before it."""
        self._show(await self.pages.at(max(0, offset - _AROUND)), offset)
        await self._fill()

    async def before(self, offset: int) -> None:
        """Show what is before a byte."""
        self._show(await self.pages.before(offset), bottom=True)
        await self._fill()

    async def end(self) -> None:
        """Show the end of the log."""
        self._show(await self.pages.last(), bottom=True)
        await self._fill()

    def _show(self, page: Page, offset: int | None = None, *, bottom: bool = False) -> None:
        self.pending, self.trouble = 0, ""
        self._tell(page)
        window = self.window
        window.here = offset
        window.show(page, offset, self.height // 3)
        if bottom:
            window.scroll(len(page.rows), self.height)

    async def _fill(self) -> None:
        """Read on where one page does not fill the screen, below it and then above."""
        window = self.window
        while len(window.rows) - window.top < self.height and window.end < window.size:
            if not self._add(await self.pages.after(window.end)):
                break
        while len(window.rows) < self.height and window.begin > 0:
            if not self._add(await self.pages.before(window.begin)):
                break
            window.top = max(0, len(window.rows) - self.height)

    async def go_on(self, amount: int) -> None:
        """Read on in one direction, and move by so many rows."""
        window, self.pending, self.trouble = self.window, amount, ""
        while self.pending > 0 or (self.pending < 0 and window.begin > 0):
            page = await (self.pages.after(window.end) if self.pending > 0 else self.pages.before(window.begin))
            if not self._add(page):
                break
            self.pending = window.scroll(self.pending, self.height)
        self.pending = 0

    def _add(self, page: Page) -> bool:
        """Hold a page that follows; False where there is none, or where it is of another log than those held."""
        self._tell(page)
        if page.begin == page.end or page.cut:
            return False
        self.window.add(page)
        return True

    def _tell(self, page: Page) -> None:
        if page.cut:
            self.trouble = _CUT
        elif page.moved and not self.trouble:
            self.trouble = _MOVED
