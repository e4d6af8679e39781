"""NULs in a log: the hole that a writer leaves which does not append when its log is truncated under it.

`> server.log` while a server still writes: its next line goes to the old offset, and all before it is a hole of as many
bytes as the log had. A hole may have many GB, so it is not read through. And a hole may be filled: the next server
writes to the same file from its beginning, below the last words of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import FileLook, Host, OpenFile
from bringup.hosts.position import FINGERPRINT, Position
from bringup.hosts.shipped import with_arguments

LEAST = 4 << 20
"""Bytes of NULs and more to come from which on they are passed over; fewer are read as they are."""
PATIENCE = 120.0
"""Seconds that the host may take: where it must compare the bytes it does some GB a second."""
_RUN = bytes(FINGERPRINT)


@dataclass(frozen=True, slots=True)
class Hole:
    """Bytes of a file that are NULs only."""

    begin: int
    end: int


async def find_hole(host: Host, path: str, offset: int = 0) -> Hole | None:
    """Return the first hole from an offset on; None where there is none, or where the host cannot tell.

    Raises ConnectionLost.
    """
    try:
        done = await host.run(with_arguments("holes/hole.sh", path, str(offset)), timeout=PATIENCE)
        begin, end = (int(word) for word in done.stdout.split())
    except (ChannelRefused, ValueError):
        return None
    return Hole(begin, end) if end > begin else None


class Holes:
    """What a follower must know of the NULs in the file that it reads."""

    def __init__(self, host: Host, path: str) -> None:
        self._host = host
        self._path = path
        self._low: Position | None = None
        """Where the last NULs begin: text there would be written by another writer than what follows them."""
        self._end = 0
        """Where they end."""
        self._filled_to = 0
        """The hole that is being filled ends here: its NULs are not yet written to."""

    def is_filling(self, position: Position) -> bool:
        """What is read lies within a hole that another writer fills."""
        return position.offset < self._filled_to

    def text_of(self, position: Position, data: bytes, head: bytes) -> bytes:
        """Return the part of the bytes at a position that has been written to; remember where NULs begin."""
        run = data.find(_RUN)
        if self.is_filling(position):
            return data[: self._filled_to - position.offset] if run < 0 else data[:run]
        if run >= 0:
            if self._low is None or position.offset + run != self._end:
                self._low = position.after(data[:run], head)
            self._end = position.offset + data.rfind(_RUN) + FINGERPRINT
        return data

    async def beyond(self, position: Position, look: FileLook, data: bytes) -> Position | None:
        """Return where reading goes on behind NULs that are not worth to be read; None where they are, or are none."""
        if look.moved or look.size - position.offset < LEAST or data.strip(b"\0") or self.is_filling(position):
            return None
        hole = await find_hole(self._host, self._path, position.offset)
        if hole is None or hole.begin != position.offset or hole.end - hole.begin <= len(data):
            return None
        self._end = hole.end
        return Position(hole.end, look.head, _RUN)

    async def refilled(self, file: OpenFile) -> Position | None:
        """Return where another writer has begun to fill the hole that was passed; None where nobody has."""
        low = self._low
        if low is None:
            return None
        look = await file.look(low.asked, len(low.before) + FINGERPRINT)
        if not low.continues_in(look) or not look.data[len(low.before) :].strip(b"\0"):
            return None
        self._fill()
        return low

    def anew(self, look: FileLook) -> None:
        """The file is read from its beginning again; where that was NULs until now, they are being written to."""
        if self._low is not None and not self._low.offset and look.size >= self._end and look.head.strip(b"\0"):
            self._fill()
        else:
            self._low, self._end, self._filled_to = None, 0, 0

    def _fill(self) -> None:
        self._low, self._end, self._filled_to = None, 0, self._end
