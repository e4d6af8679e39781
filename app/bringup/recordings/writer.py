"""Writes one recording: packed, append-only, and readable up to its last second whenever it is cut off."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from bringup.core.errors import BringupError
from bringup.recordings.locks import hold
from bringup.recordings.private import make_private

FORMAT = 2
MOST = 64 << 20
"""Bytes of a packed recording after which it ends by itself."""
_GZIP = 31
"""wbits of zlib for a gzip stream."""
_MOST_WAITING = 64 << 20
"""Bytes of rows that may wait to be written; beyond it a recording ends."""


class Writer:
    """A recording that grows. Rows are collected by `add` and written by `flush`, which may block.

    The file is locked as long as it grows (flock(2)), so that nobody who makes room takes it away.
    """

    def __init__(self, path: Path, header: Mapping[str, object], began: float, most: int = MOST) -> None:
        self.path = path
        self.ended = ""
        """Why nothing is written any more, as a sentence; empty while it is."""
        self._most = most
        self._rows: list[bytes] = []
        self._waiting = 0
        self.size = 0
        """Bytes of the file."""
        self._packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
        self._descriptor = _create(path)
        self.add([json.dumps({"recording": FORMAT, **header, "began": began}).encode()])

    def add(self, rows: Iterable[bytes]) -> None:
        """Keep rows of JSON, each without its line end."""
        for row in rows:
            if self.ended:
                return
            self._rows.append(row)
            self._waiting += len(row)
            if self._waiting > _MOST_WAITING:
                self._end(f"The recording {self.path} ended: its disk is too slow.")

    def flush(self) -> None:
        """Write what was collected, so that it can be read whatever happens; never raises: `ended` tells of trouble."""
        rows, self._rows, self._waiting = self._rows, [], 0
        if self.ended or not rows:
            return
        data = self._packer.compress(b"".join(row + b"\n" for row in rows))
        self._write(data + self._packer.flush(zlib.Z_SYNC_FLUSH))
        if self.size >= self._most:
            self._end(f"The recording {self.path} has reached its limit of {self._most >> 20} MiB and ended.")

    def give_up(self, why: str) -> None:
        """End the file with what it holds, for a reason in a sentence."""
        self.flush()
        self._end(why)

    def close(self) -> None:
        """Write the rest and end the file."""
        self.flush()
        self._end("The recording was ended.")

    def _end(self, why: str) -> None:
        if self.ended:
            return
        self._write(self._packer.flush())
        if not self.ended:
            self.ended = why
            os.close(self._descriptor)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            self.ended = f"The recording {self.path} ended: {error.strerror}."
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
        self.size += len(data)


def _create(path: Path) -> int:
    """Make the file, for its owner only; raises BringupError where it is there already or cannot be made."""
    try:
        make_private(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if path.exists():
            what = f"{path} is there already."
            raise BringupError(what, "Give another name: a recording is never written over.") from error
        raise BringupError(f"{path} cannot be made: {error.strerror}.", "Make room, or give another folder.") from error
    hold(descriptor)
    return descriptor
