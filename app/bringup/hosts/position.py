"""Where reading a log has come to, and the proof that a file is still the one that was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bringup.hosts.base import FileLook, OpenFile

FINGERPRINT = 64
"""Bytes of the head and before the offset that are compared."""


@dataclass(frozen=True, slots=True)
class Position:
    """An offset, with what proves later that a file is the same one up to there.

    The head alone would not do: two starts of a server can begin with the same 64 bytes.
    """

    offset: int = 0
    head: bytes = b""
    """First bytes of the file, at most 64."""
    before: bytes = b""
    """Bytes before the offset, at most 64."""
    node: str = ""
    """Device and inode, where the host tells them: no proof (inodes are used again), but a word for what happened."""

    @property
    def asked(self) -> int:
        """Where a look must begin to prove that it continues from here."""
        return self.offset - len(self.before)

    def after(self, data: bytes, head: bytes, node: str = "") -> Position:
        """Return the position behind `data`; `head` was read after it."""
        return Position(self.offset + len(data), head, (self.before + data)[-FINGERPRINT:], node)

    def continues_in(self, look: FileLook) -> bool:
        """Tell whether a look that began at `asked` is of the file that was read."""
        return look.size >= self.offset and look.head.startswith(self.head) and look.data.startswith(self.before)


async def position_at(file: OpenFile, offset: int) -> Position:
    """Return the position at an offset of a file that has as much; raises as a look does."""
    before = min(offset, FINGERPRINT)
    look = await file.look(offset - before, max(1, before))
    return Position(offset, look.head, look.data[:before], look.node)


async def begin_in(file: OpenFile, start: int | Literal["tail"]) -> Position:
    """Return the position at an offset or at the end; at the start of a file that is shorter than the offset."""
    size = (await file.look(0, 1)).size
    offset = size if start == "tail" else start
    return await position_at(file, offset) if 0 < offset <= size else Position()
