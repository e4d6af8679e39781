"""The part of a whole log that is held while it is read in pages: bounded, wherever one goes."""

from __future__ import annotations

from bisect import bisect_left

from bringup.session.whole_log import Page, Row

MOST_PAGES = 5
"""Some 320 KiB of text: the page in view, and what was read around it."""


class Window:
    """Pages that follow each other, and the row that is at the top of the screen."""

    def __init__(self) -> None:
        self._pages: list[Page] = []
        self.rows: list[Row] = []
        self.top = 0
        self.here: int | None = None
        """Byte of the line that a search led to."""

    @property
    def begin(self) -> int:
        """First byte that is held."""
        return self._pages[0].begin if self._pages else 0

    @property
    def end(self) -> int:
        """Byte behind the last that is held."""
        return self._pages[-1].end if self._pages else 0

    @property
    def size(self) -> int:
        """Bytes of the log when it was last looked at."""
        return max((page.size for page in self._pages[-1:]), default=0)

    @property
    def place(self) -> int:
        """Byte at which the top row begins."""
        return self.rows[self.top].offset if self.rows else self.begin

    def show(self, page: Page, offset: int | None = None, above: int = 0) -> None:
        """Hold this page only, with the line at a byte in view below `above` other rows."""
        self._pages = [page]
        self._flatten()
        self.top = 0 if offset is None else max(0, self.index(offset) - above)

    def add(self, page: Page) -> None:
        """Hold a page that comes next or before; the one farthest from it goes where there are too many."""
        held = len(self.rows)
        if page.begin >= self.end:
            self._pages.append(page)
            gone = self._pages.pop(0) if len(self._pages) > MOST_PAGES else None
            self.top -= len(gone.rows) if gone is not None else 0
            self._flatten()
        else:
            self._pages.insert(0, page)
            if len(self._pages) > MOST_PAGES:
                held -= len(self._pages.pop().rows)
            self._flatten()
            self.top += len(self.rows) - held

    def index(self, offset: int) -> int:
        """Return the row that begins at a byte or is the next one."""
        return min(bisect_left(self.rows, offset, key=lambda row: row.offset), max(0, len(self.rows) - 1))

    def next_line(self) -> int:
        """Return the byte from which a search goes on: behind the line where one is."""
        here = self._held_here()
        start = self.top - 1 if here is None else self.index(here)
        return self.rows[start + 1].offset if start + 1 < len(self.rows) else self.end

    def this_line(self) -> int:
        """Return the byte before which a search goes back."""
        here = self._held_here()
        return self.place if here is None else here

    def scroll(self, amount: int, height: int) -> int:
        """Move by rows as far as what is held allows; return by how many more it should be."""
        wanted = self.top + amount
        last = max(0, len(self.rows) - height)
        self.top = max(0, min(wanted, last))
        return wanted - self.top

    def _flatten(self) -> None:
        self.rows = [row for page in self._pages for row in page.rows]

    def _held_here(self) -> int | None:
        return self.here if self.here is not None and self.begin <= self.here < self.end else None
