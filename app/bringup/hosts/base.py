"""What a host offers, whether it is this machine, one behind SSH, or a recording.

Every method raises `ConnectionLost` when the connection is gone and `ChannelRefused` when the host is there but would
not do this one thing; nothing else leaves a host.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Completed:
    """The end of a command: its exit status and what it wrote, each cut at the limit it was run with."""

    status: int
    stdout: bytes
    stderr: bytes


class Stream(Protocol):
    """The standard output of a running command."""

    async def read(self, size: int = 65536) -> bytes:
        """Return what is there, at most `size` bytes; b"" when the command has ended."""
        ...

    async def status(self) -> Completed:
        """Return the exit status and standard error after the end of the stream."""
        ...


@dataclass(frozen=True, slots=True)
class FileLook:
    """One consistent look at a followed file: of the open handle, of the path, and of the bytes at an offset."""

    data: bytes
    """Bytes from the asked offset, at most the asked size."""
    size: int
    """Size of the open handle."""
    head: bytes
    """First 64 bytes of the open handle, read after `data`: the same head proves that data is of the same log."""
    moved: bool
    """The path now names another file, or none."""
    exists: bool
    """The path names a file."""
    written: float | None = None
    """When the open handle was last written to, in epoch seconds of the host's clock; None where that is not told."""
    node: str = ""
    """Device and inode of what was looked at; empty where that is not told (SFTP)."""


class OpenFile(Protocol):
    """A file that stays open while its path may come to name another one."""

    async def look(self, offset: int, size: int) -> FileLook:
        """Read `size` bytes at `offset` together with what proves that they belong to the same file; one round trip."""
        ...

    async def close(self) -> None:
        """Close the handle; never raises."""
        ...


class ByteStream(Protocol):
    """A TCP connection made from the host."""

    async def read(self, size: int = 65536) -> bytes:
        """Return what is there, at most `size` bytes; b"" at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send `data`."""
        ...

    async def close(self) -> None:
        """Close the connection; never raises."""
        ...


class Host(Protocol):
    """A machine that can be asked."""

    @property
    def name(self) -> str:
        """The name the operator gave it."""
        ...

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        """Run a POSIX sh script to its end; `timeout` in seconds ends it, `limit` bounds each output in bytes."""
        ...

    def stream(self, script: str) -> AbstractAsyncContextManager[Stream]:
        """Run a POSIX sh script and read its output as it comes; leaving the context ends it on the host."""
        ...

    async def open(self, path: str) -> OpenFile:
        """Open a file for following; raises ChannelRefused with the reason in words."""
        ...

    async def connect(self, host: str, port: int) -> ByteStream:
        """Open a TCP connection from the host to host:port.

        Raises ChannelRefused with the reason "refused" (nobody listens), "forbidden" (no forwarding) or "timeout".
        """
        ...

    async def closed(self) -> str:
        """Return, in words, why the connection ended, when it ends; never returns for a host that cannot be lost."""
        ...

    async def close(self) -> None:
        """End the connection and all that runs on it."""
        ...
