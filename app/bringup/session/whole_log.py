"""What a screen may ask of a log beyond the lines that it was given: the whole file, searched on its host."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bringup.core.errors import ChannelRefused
from bringup.hosts import whole_log
from bringup.hosts.base import Host
from bringup.session.picture import Picture


@runtime_checkable
class WholeLog(Protocol):
    """A console whose log can be searched on its host."""

    async def search_log(self, words: str) -> list[bytes]:
        """Return the newest lines with these words, with what stands around them; raises BringupError."""
        ...

    async def log_beginning(self) -> list[bytes]:
        """Return the first lines of the log; raises BringupError."""
        ...


class LogQuestions:
    """The answers of a session; it says which host, and which log."""

    _picture: Picture

    def _reach(self) -> Host:
        raise NotImplementedError

    async def search_log(self, words: str) -> list[bytes]:
        """Search the whole log on the host."""
        return await whole_log.search(self._reach(), self._log_file(), words)

    async def log_beginning(self) -> list[bytes]:
        """Read the first lines of the log."""
        return await whole_log.beginning(self._reach(), self._log_file())

    def _log_file(self) -> str:
        log = self._picture.state.log
        if log.kind not in ("", "file", "deleted") or not log.path.startswith("/"):
            raise ChannelRefused("The log is no file on the host, so it cannot be searched there.")
        return log.path
