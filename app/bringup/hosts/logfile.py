"""A log on this machine as a stream of chunks: a file, standard input, plain or packed with gzip or zstd.

What a file is packed with is told by its first bytes (RFC 1952, RFC 8878), never by its name.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from bringup.core.errors import UsageError
from bringup.core.sanitize import clean_text

CHUNK = 256 * 1024
"""Bytes read at once: memory stays flat whatever the size of the log."""
_MAGIC = 4
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MODULES = ("compression.zstd", "backports.zstd")
"""The standard library's since Python 3.14, and the same for earlier ones (the extra `zstd`)."""


class Source(Protocol):
    """What bytes are read from."""

    def read1(self, size: int = -1, /) -> bytes:
        """Return some bytes, none at the end."""
        ...


class LogFile:
    """One log, read once from its beginning to its end."""

    def __init__(self, name: str, source: Source, damages: tuple[type[Exception], ...] = ()) -> None:
        self.name = name
        self.trouble = ""
        """Why reading ended before the end of the log, as a sentence; empty while all is well."""
        self._source = source
        self._damages: tuple[type[Exception], ...] = (EOFError, *damages)

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the log; an archive that is damaged yields what comes before the damage."""
        while True:
            try:
                chunk = self._source.read1(CHUNK)
            except self._damages as error:
                self.trouble = f"{self.name} is damaged or incomplete ({error})."
                return
            except OSError as error:
                self.trouble = f"Reading {self.name} broke off: {error.strerror or error}."
                return
            if not chunk:
                return
            yield chunk


@contextlib.contextmanager
def open_log(path: Path) -> Iterator[LogFile]:
    """Open the log in a file. Raises UsageError with a sentence where that cannot be done."""
    name = clean_text(str(path))
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            raise UsageError(f"{name} is a directory.", "Give the log file in it.")
        file = path.open("rb")
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {name}.", "Check the path; `-` reads standard input.") from error
    except PermissionError as error:
        raise UsageError(f"{name} may not be read by you.", "Ask its owner, or try `sudo cat FILE | ...`.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{name} cannot be read: {reason}.", "Give a log file.") from error
    with file:
        yield read_log(name, file)


def read_log(name: str, stream: BinaryIO) -> LogFile:
    """Return the log in an open stream, which need not be seekable. Raises UsageError where it cannot be unpacked."""
    try:
        head = stream.read(_MAGIC)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}.", "Give a log file.") from error
    whole = io.BufferedReader(_Whole(head, stream), CHUNK)
    if head.startswith(_GZIP):
        return LogFile(name, gzip.GzipFile(fileobj=whole), (gzip.BadGzipFile, zlib.error))
    if head == _ZSTD:
        return _zstd(name, whole)
    return LogFile(name, whole)


class _Whole(io.RawIOBase):
    """A stream whose first bytes were read already, with them put back."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._next: Callable[[int], bytes] = getattr(rest, "read1", rest.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        data, self._head = self._head, b""
        data = data or self._next(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _zstd(name: str, stream: BinaryIO) -> LogFile:
    for module in _ZSTD_MODULES:
        try:
            zstd = importlib.import_module(module)
        except ImportError:
            continue
        return LogFile(name, zstd.ZstdFile(stream), (zstd.ZstdError,))
    raise UsageError(
        f"{name} is packed with zstd, which this Python cannot unpack.",
        "Install `bringup[zstd]`, or unpack it: `zstd -dc FILE | bringup explain -`.",
    )
