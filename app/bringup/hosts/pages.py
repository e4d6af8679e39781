"""A whole log in pages, from any place of it: what is shown is moved, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bringup.core.redact import mask_excerpt
from bringup.hosts.base import FileLook, Host, OpenFile
from bringup.hosts.holes import Hole, find_hole

PAGE = 64 << 10
"""Bytes of a page: some hundred lines, one round trip."""
_BACK = 16 << 10
"""Bytes before a place in which the beginning of its line is looked for."""
_STRIDE = 1 << 20
"""Within so many bytes a time is looked for page by page."""
_ROW = re.compile(rb"[^\r\n]+")
"""What one line of a terminal would show: a bar that is drawn again is another row."""
Dated = Callable[[bytes], float | None]
"""Returns the time that a line carries, in epoch seconds."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the log, or (`hole`) so many NULs."""

    offset: int
    text: bytes
    """Secrets are masked, nothing is made harmless."""
    hole: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a log from byte `begin` to byte `end`."""

    rows: tuple[Row, ...]
    begin: int
    end: int
    size: int
    """Of the file, when the page was read."""
    moved: bool = False
    """The path names another file now, or none: this is read from the one that it named before."""
    cut: bool = False
    """The file is shorter than it was, or begins with other bytes: it was truncated or written anew."""


class LogPages:
    """Reads pages of one log; the file stays open, so that a rotated one can still be read to its end.

    All methods raise ChannelRefused where the file cannot be read, and ConnectionLost.
    """

    def __init__(self, reach: Callable[[], Host], path: str) -> None:
        self.path = path
        self._reach = reach
        self._host: Host | None = None
        self._file: OpenFile | None = None
        self._head = b""
        self._size = 0

    async def at(self, offset: int) -> Page:
        """Return the page that begins with the line in which a byte is; the last page for a byte behind the end."""
        file = await self._open()
        size = (await file.look(0, 1)).size
        offset = max(0, min(offset, size - 1))
        return await self.after(await self._line_start(file, offset))

    async def last(self) -> Page:
        """Return the page at the end of the log."""
        file = await self._open()
        return await self.before((await file.look(0, 1)).size)

    async def after(self, begin: int) -> Page:
        """Return the page from a byte on, which is the first of a line."""
        file = await self._open()
        look = await file.look(begin, PAGE)
        whole = begin + len(look.data) >= look.size
        data = look.data if whole else look.data[: look.data.rfind(b"\n") + 1] or look.data
        if data and not data.strip(b"\0"):
            hole = await self._hole(begin)
            if hole is not None:
                return self._page((Row(begin, b"", hole.end - begin),), begin, hole.end, look)
        return self._page(_rows(begin, data), begin, begin + len(data), look)

    async def before(self, end: int) -> Page:
        """Return the page up to a byte, which is the first of a line, or the end."""
        file = await self._open()
        begin = max(0, end - PAGE)
        look = await file.look(begin, max(1, end - begin))
        data = look.data[: end - begin]
        if begin and data and not data.strip(b"\0"):
            hole = await self._hole(0)
            if hole is not None and hole.begin < end <= hole.end:
                return self._page((Row(hole.begin, b"", end - hole.begin),), hole.begin, end, look)
        cut = data.find(b"\n") + 1 if begin else 0
        cut = cut if cut < len(data) else 0
        return self._page(_rows(begin + cut, data[cut:]), begin + cut, end, look)

    async def at_time(self, when: float, dated: Dated) -> Page:
        """Return the page that begins with the first line of a time or later, by halving; else the last.

        A log whose times go back (another clock, another zone) may have more than one such line.
        """
        file = await self._open()
        low, high = 0, (await file.look(0, 1)).size
        while high - low > _STRIDE:
            middle = (low + high) // 2
            at = _first_time(await self.after(await self._line_start(file, middle)), dated)
            low, high = (middle, high) if at is not None and at < when else (low, middle)
        page = await self.at(low)
        while True:
            for row in page.rows:
                at = dated(row.text)
                if at is not None and at >= when:
                    return await self.after(row.offset)
            if page.end >= page.size:
                return await self.last()
            page = await self.after(page.end)

    async def close(self) -> None:
        """Close the file; never raises."""
        file, self._file = self._file, None
        if file is not None:
            await file.close()

    async def _open(self) -> OpenFile:
        """Open the log, again on another connection."""
        host = self._reach()
        if self._file is None or host is not self._host:
            self._file, self._host = await host.open(self.path), host
        return self._file

    async def _hole(self, offset: int) -> Hole | None:
        return await find_hole(self._reach(), self.path, offset)

    async def _line_start(self, file: OpenFile, offset: int) -> int:
        """Return where the line of a byte begins; the byte itself where it begins far before."""
        begin = max(0, offset - _BACK)
        if offset == 0:
            return 0
        data = (await file.look(begin, offset - begin)).data
        newline = data.rfind(b"\n")
        return begin + newline + 1 if newline >= 0 else begin if begin == 0 else offset

    def _page(self, rows: tuple[Row, ...], begin: int, end: int, look: FileLook) -> Page:
        cut = look.size < self._size or not look.head.startswith(self._head)
        self._size, self._head = look.size, look.head
        return Page(rows, begin, min(end, max(begin, look.size)), look.size, moved=look.moved, cut=cut)


def _rows(begin: int, data: bytes) -> tuple[Row, ...]:
    found = [(begin + piece.start(), piece[0].replace(b"\0", b"")) for piece in _ROW.finditer(data)]
    masked = mask_excerpt([text for _, text in found])
    return tuple(Row(offset, text) for (offset, _), text in zip(found, masked, strict=True))


def _first_time(page: Page, dated: Dated) -> float | None:
    return next((at for row in page.rows if (at := dated(row.text)) is not None), None)
