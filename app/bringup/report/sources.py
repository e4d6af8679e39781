"""What a file holds, a log or a recording: told by its first line and never by its name."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bringup.hosts.logfile import LogFile

_LONGEST_HEAD = 64 * 1024


class Begun(LogFile):
    """A log of which the first bytes were looked at already."""

    def __init__(self, log: LogFile) -> None:
        self.name = log.name
        self.trouble = log.trouble
        self._log = log
        self._rest = log.chunks()
        self._held: list[bytes] = []

    def head(self) -> bytes:
        """Return the first line, as far as it is not longer than any header of a recording."""
        size = 0
        while size <= _LONGEST_HEAD and not any(b"\n" in chunk for chunk in self._held[-1:]):
            chunk = next(self._rest, b"")
            if not chunk:
                break
            self._held.append(chunk)
            size += len(chunk)
        return b"".join(self._held).partition(b"\n")[0]

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes of the log."""
        held, self._held = self._held, []
        yield from held
        yield from self._rest
        self.trouble = self._log.trouble


def is_recording(head: bytes) -> bool:
    """Say whether a first line is the header of a recording, of whichever format."""
    if len(head) > _LONGEST_HEAD or not head.lstrip().startswith(b"{"):
        return False
    try:
        row = json.loads(head)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and "recording" in row
