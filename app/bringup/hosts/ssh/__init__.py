"""A host behind SSH. Importing this costs nothing: asyncssh (160 ms) is loaded by `login`, in a thread."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Self

from bringup.hosts.ask import Ask
from bringup.hosts.base import ByteStream, Completed, OpenFile, Stream
from bringup.hosts.ssh.config import SshOptions as SshOptions

if TYPE_CHECKING:
    from bringup.hosts.ssh.line import Line


class SshHost:
    """One SSH connection and the few channels on it: the file service, streams, short commands (six at most)."""

    def __init__(self, line: Line) -> None:
        from bringup.hosts.ssh.files import Files
        from bringup.hosts.ssh.process import Commands

        self._line = line
        self._commands = Commands(line)
        self._files = Files(line, self._commands)

    @classmethod
    async def login(cls, target: str, *, ask: Ask | None = None, options: SshOptions | None = None) -> Self:
        """Log in to a target as `ssh TARGET` would, over its jump hosts; `ask` answers what only the operator can.

        Raises UsageError (target or configuration), HostKeyUnknown (see `trust.accept`), HostKeyChanged, Unreachable.
        """
        await asyncio.get_running_loop().run_in_executor(None, importlib.import_module, "bringup.hosts.ssh.files")
        from bringup.hosts.ssh.line import dial

        return cls(await dial(target, ask, options or SshOptions()))

    @property
    def name(self) -> str:
        """The name the operator gave it."""
        return self._line.name

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        """Run a POSIX sh script to its end; `timeout` in seconds ends it, `limit` bounds each output in bytes."""
        return await self._commands.run(script, stdin=stdin, timeout=timeout, limit=limit)

    def stream(self, script: str) -> AbstractAsyncContextManager[Stream]:
        """Run a POSIX sh script and read its output as it comes; leaving the context ends it on the host."""
        return self._commands.stream(script)

    async def open(self, path: str) -> OpenFile:
        """Open a file for following; raises ChannelRefused ("missing", "denied", "unsupported")."""
        return await self._files.open(path)

    async def connect(self, host: str, port: int) -> ByteStream:
        """Open a TCP connection from the host to host:port; "refused", "forbidden" or "timeout" after two seconds."""
        from bringup.hosts.ssh.tcp import SshTcp

        return await SshTcp.open(self._line, host, port)

    async def closed(self) -> str:
        """Return, in words, why the connection ended, when it ends."""
        return await self._line.ended()

    async def close(self) -> None:
        """End the connection and all that runs on it."""
        self._commands.close()
        await self._files.close()
        await self._line.close()
