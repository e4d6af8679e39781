"""The rows of the present start, packed, in memory: a recording that is asked for late begins with them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

MOST = 8 << 20
"""Bytes, packed, beyond which a start is not held whole: what comes later is left out."""
_SLICE = 64 << 10


class Tape:
    """Holds rows from the beginning of a start on; all of it may be called from one thread at a time."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._packer = zlib.compressobj(1)
        self._packed = bytearray()
        self.is_full = False
        """It was not long enough: the newest rows are missing."""

    def add(self, rows: Iterable[bytes]) -> None:
        """Keep rows."""
        for row in rows:
            if self.is_full:
                return
            self._packed += self._packer.compress(row + b"\n")
            self.is_full = len(self._packed) > self._most

    def stop(self) -> None:
        """Take no more: something is missing from now on."""
        self.is_full = True

    def rows(self) -> Iterator[list[bytes]]:
        """Yield what is held, some rows at a time."""
        packed = memoryview(bytes(self._packed) + self._packer.copy().flush(zlib.Z_SYNC_FLUSH))
        unpacker, rest = zlib.decompressobj(), b""
        for begin in range(0, len(packed), _SLICE):
            *whole, rest = (rest + unpacker.decompress(packed[begin : begin + _SLICE])).split(b"\n")
            yield whole
