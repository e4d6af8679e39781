"""The raw log: follows, scrolls, searches; decodes only the lines that are on the screen."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from bringup.core.sanitize import clean
from bringup.ui.keys import bindings
from bringup.ui.loglines import LogLines
from bringup.ui.paint.log import highlighted, paint_line
from bringup.ui.widgets.painted import inks_of, strip_of

_ASIDE = 20
_MOST_PIECES = 200
"""Rows that one wrapped line may take."""
_COPY_LIMIT = 64 * 1024


class LogPane(ScrollView, can_focus=True):
    """Log lines of constant virtual size: an append is a repaint, never a layout."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("log")]

    class BeforeOldest(Message):
        """The reader wants to see what is not held: the `beginning` of the log, or what was before the oldest line."""

        def __init__(self, *, beginning: bool) -> None:
            super().__init__()
            self.beginning = beginning

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines = LogLines()
        self.open_line = b""
        self.nothing = ""
        """The sentence that stands where there are no lines."""
        self.following = True
        self.unseen = 0
        self.wrapped = False
        self.search: re.Pattern[bytes] | None = None
        self.here: int | None = None
        """Number of the line that a search, an error or the cause led to."""
        self.faded = False
        self._top = 0
        self._aside = 0
        self._inks: dict[str, Style] = {}
        self._base = Style.null()
        self._cache: LRUCache[tuple[int, int], Strip] = LRUCache(512)
        self._rows: list[tuple[int, int]] = []
        self._rows_of: tuple[object, ...] = ()

    def extend(self, lines: list[bytes], open_line: bytes) -> bool:
        """Add lines, and the unterminated one that is being drawn; True when old lines were dropped for them."""
        before = len(self.lines)
        moved = self.lines.extend(lines) if lines else 0
        if not self.following:
            self._top = max(0, self._top - moved)
            self.unseen += len(self.lines) + moved - before
        if lines or open_line != self.open_line:
            self.open_line = open_line
            self.refresh()
        return moved > 0

    def reset(self) -> None:
        """Forget all lines."""
        self.lines = LogLines()
        self.open_line = b""
        self.action_resume()

    def rewind(self) -> None:
        """Forget all lines, but not which of them are shown."""
        self.lines.clear()
        self.open_line = b""
        self.action_resume()

    def narrow(self, pattern: re.Pattern[bytes] | None) -> None:
        """Show only the lines of a rank, or all again; the end is followed then."""
        self.lines.narrow(pattern)
        self.action_resume()

    def seek(self, pattern: re.Pattern[bytes], step: int) -> bool:
        """Go to the next line that matches, from where the reader is; False where there is none."""
        start = self._from(step)
        found = self.lines.find(pattern, start, step)
        if found is not None:
            self.go_to(found)
        return found is not None

    def go_to(self, position: int) -> None:
        """Show a line with some lines before it, marked, and stop following."""
        self.following = False
        self.here = self.lines.number(position)
        self._set_top(position - self.size.height // 3)

    def visible_text(self) -> str:
        """Return what the pane shows, as text of at most 64 KiB."""
        rows = self._visible()
        positions = sorted({position for position, _ in rows})
        text = "\n".join(clean(self._raw(position)) for position in positions)
        return text.encode()[:_COPY_LIMIT].decode("utf-8", "ignore")

    # --- drawing ---

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return some lines; the style below them is reckoned once for all."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one line of the pane."""
        width, base = self.size.width, self._base
        if not self._inks:
            self._inks = inks_of(self.app)
        rows = self._visible()
        if not rows and y == self.size.height // 2 and self.nothing:
            return strip_of(((f" {self.nothing}", "quiet"),), self._inks, width, base)
        if y >= len(rows):
            return Strip.blank(width, base)
        position, piece = rows[y]
        return self._strip(position, piece, width)

    def _strip(self, position: int, piece: int, width: int) -> Strip:
        if position >= len(self.lines):
            return self._draw(position, piece, width)
        key = (self.lines.number(position), piece)
        strip = self._cache.get(key)
        if strip is None:
            strip = self._cache[key] = self._draw(position, piece, width)
        return strip

    def _draw(self, position: int, piece: int, width: int) -> Strip:
        raw = self._raw(position)
        row = highlighted(paint_line(raw), self.search)
        if position < len(self.lines) and self.lines.number(position) == self.here:
            row = (("▸", "focus"), *((text, "here" if ink in ("text", "quiet") else ink) for text, ink in row))
        else:
            row = ((" ", "text"), *row)
        whole = sum(cell_len(text) for text, _ in row)
        strip = strip_of(row, self._inks, whole, self._base, faded=self.faded)
        begin = piece * width if self.wrapped else self._aside
        return strip.crop_extend(begin, begin + width, self._base)

    def _raw(self, position: int) -> bytes:
        return self.lines.line(position) if position < len(self.lines) else self.open_line

    def _visible(self) -> list[tuple[int, int]]:
        """Return (position, piece of the line) of every row shown; reckoned once for all rows of a repaint."""
        last = self.lines.number(len(self.lines) - 1) if len(self.lines) else -1
        now = (self.size, self.following, self._top, self.wrapped, len(self.lines), last, self.open_line)
        if now != self._rows_of:
            self._rows, self._rows_of = self._reckon(), now
        return self._rows

    def _reckon(self) -> list[tuple[int, int]]:
        height, total = self.size.height, self._total()
        if not self.following:
            return self._downwards(self._top, height, total)
        if not self.wrapped:
            return [(position, 0) for position in range(max(0, total - height), total)]
        rows: list[tuple[int, int]] = []
        for position in range(total - 1, -1, -1):
            rows = [(position, piece) for piece in range(self._pieces(position))] + rows
            if len(rows) >= height:
                break
        return rows[-height:]

    def _downwards(self, top: int, height: int, total: int) -> list[tuple[int, int]]:
        rows: list[tuple[int, int]] = []
        for position in range(top, min(total, top + height)):
            rows += [(position, piece) for piece in range(self._pieces(position) if self.wrapped else 1)]
            if len(rows) >= height:
                break
        return rows[:height]

    def _pieces(self, position: int) -> int:
        room = max(1, self.size.width)
        return min(_MOST_PIECES, max(1, -(-(cell_len(clean(self._raw(position))) + 1) // room)))

    def _total(self) -> int:
        """Lines shown, with the open one; a filter hides it, for it belongs to nobody."""
        return len(self.lines) + (1 if self.open_line and not self.lines.filtered else 0)

    def forget_strips(self) -> None:
        """Draw everything anew: what lines look like has changed."""
        self._cache.clear()
        self._inks = {}
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget what was drawn: the theme may have changed."""
        super().notify_style_update()
        self._cache.clear()
        self._inks = {}

    def on_resize(self) -> None:
        """Forget what was cut to another width."""
        self._cache.clear()

    # --- moving ---

    def _set_top(self, top: int) -> None:
        """Begin the view at a line."""
        last = self._total() - (1 if self.wrapped else self.size.height)
        self._top = max(0, min(top, last))
        self.forget_strips()

    def _from(self, step: int) -> int:
        if self.here is not None and not self.following:
            return self.lines.position(self.here) + step
        rows = self._visible()
        if not rows:
            return 0
        return len(self.lines) - 1 if step < 0 else rows[0][0]

    def _leave_end(self) -> None:
        if self.following:
            rows = self._visible()
            self._top = rows[0][0] if rows else 0
            self.following = False

    def _scroll(self, amount: int) -> None:
        """Move by lines; upwards stops following, downwards past the end goes on with it."""
        if self.following and amount > 0:
            return
        if not self.following and self._top == 0 and amount < -1:
            self.post_message(self.BeforeOldest(beginning=False))
        self._leave_end()
        below = self._downwards(self._top + max(0, amount), self.size.height, self._total())
        if amount > 0 and len(below) < self.size.height:
            self.action_resume()
        else:
            self._set_top(self._top + amount)

    def action_move(self, amount: int) -> None:
        """Scroll by one line."""
        self._scroll(amount)

    def action_page(self, amount: int) -> None:
        """Scroll by a page."""
        self._scroll(amount * max(1, self.size.height - 1))

    def action_half(self, amount: int) -> None:
        """Scroll by half a page."""
        self._scroll(amount * max(1, self.size.height // 2))

    def action_top(self) -> None:
        """Go to the oldest line that is held; from there, ask for what was before it."""
        if not self.following and self._top == 0:
            self.post_message(self.BeforeOldest(beginning=True))
        self._leave_end()
        self._set_top(0)

    def action_aside(self, amount: int) -> None:
        """Move along lines that are cut at the edge."""
        self._aside = max(0, self._aside + amount * _ASIDE)
        self.forget_strips()

    def action_resume(self) -> None:
        """Go to the end and follow it."""
        self.following, self.unseen, self.here = True, 0, None
        self.forget_strips()

    def pause(self) -> None:
        """Stop following where it is."""
        self._leave_end()
        self.refresh()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up, and stop following."""
        event.stop()
        self._scroll(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self._scroll(3)
