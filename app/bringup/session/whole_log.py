"""What a screen may ask of a log beyond the lines that it was given: the whole file, read and searched on its host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from bringup.core.errors import ChannelRefused
from bringup.core.state import State
from bringup.hosts import whole_log
from bringup.hosts.base import Host
from bringup.hosts.pages import Dated as Dated
from bringup.hosts.pages import LogPages as LogPages
from bringup.hosts.pages import Page as Page
from bringup.hosts.pages import Row as Row
from bringup.hosts.whole_log import place_of as place_of


class WholeLog:
    """The log of a session as a file; every method raises ChannelRefused where it is none, and ConnectionLost."""

    def __init__(self, reach: Callable[[], Host], state: Callable[[], State]) -> None:
        self._reach = reach
        self._state = state

    def pages(self) -> LogPages:
        """Return the file that is the log now, to be read in pages and closed."""
        return LogPages(self._reach, self._path())

    async def search(self, words: str) -> list[bytes]:
        """Return the newest lines with these words in the whole file, with what stands around them."""
        return await whole_log.search(self._reach(), self._path(), words)

    async def find(self, path: str, words: str, offset: int, step: int) -> int | None:
        """Return where the next line with these words begins in a file, from a byte on (`step` 1) or before it (-1)."""
        return await whole_log.find(self._reach(), path, words, offset, step)

    async def last_place_of(self, line: str) -> int | None:
        """Return where the last line with this text begins."""
        pages = self.pages()
        try:
            return await self.find(pages.path, line, (await pages.last()).size, -1)
        finally:
            await pages.close()

    def _path(self) -> str:
        log = self._state().log
        if log.kind not in ("", "file", "deleted") or not log.path.startswith("/"):
            raise ChannelRefused("The log is no file on the host, so it cannot be read there.")
        return log.path


@runtime_checkable
class HasWholeLog(Protocol):
    """A console whose log can be read and searched on its host."""

    @property
    def whole_log(self) -> WholeLog:
        """The whole log of what is shown."""
        ...
