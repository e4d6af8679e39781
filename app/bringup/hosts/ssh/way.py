"""What the commands of a host need of the connection that carries them: asyncssh's and the system's ssh have it."""

from __future__ import annotations

from typing import Protocol

from bringup.core.errors import ConnectionLost


class Reader(Protocol):
    """An output of a command."""

    async def read(self, n: int = ..., /) -> bytes:
        """Return what is there, at most `n` bytes; b"" at the end."""
        ...


class Writer(Protocol):
    """The standard input of a command."""

    def write(self, data: bytes, /) -> None:
        """Queue `data`."""
        ...

    async def drain(self) -> None:
        """Wait until there is room for more."""
        ...


class Process(Protocol):
    """A running command."""

    @property
    def stdin(self) -> Writer:
        """Its standard input."""
        ...

    @property
    def stdout(self) -> Reader:
        """Its standard output."""
        ...

    @property
    def stderr(self) -> Reader:
        """Its standard error."""
        ...

    @property
    def returncode(self) -> int | None:
        """Its exit status; negative for a signal, None where the connection ended first."""
        ...

    async def wait_closed(self) -> None:
        """Wait for its end."""
        ...

    def close(self) -> None:
        """Close its channel; waits for nothing."""
        ...


class Way(Protocol):
    """What carries commands to a host."""

    @property
    def name(self) -> str:
        """The name the operator gave the host."""
        ...

    @property
    def is_lost(self) -> bool:
        """The connection has ended."""
        ...

    def loss(self) -> ConnectionLost:
        """Return the error of a connection that has ended."""
        ...

    async def start(self, command: str, window: int) -> Process:
        """Start a command of the login shell with `window` bytes of its output in flight at most."""
        ...
