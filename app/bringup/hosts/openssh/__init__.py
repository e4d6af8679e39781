"""A host behind the system's own `ssh`, for ways in that only it knows: Kerberos, FIDO keys, a connection that stands.

One `ssh` process is the connection (ControlMaster, ssh_config(5)); every channel is a small one that goes through its
socket. Where the operator already has such a connection open, that one is used and left open. Nothing is asked for:
`ssh` runs in batch mode, because the screen owns the terminal.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Self

from bringup.hosts.base import ByteStream, Completed, OpenFile, Stream
from bringup.hosts.openssh.master import Master
from bringup.hosts.openssh.tcp import MasterTcp
from bringup.hosts.ssh.process import Commands
from bringup.hosts.ssh.shell_file import ShellFile


class OpensshHost:
    """One connection of the system's ssh, and the channels on it."""

    def __init__(self, master: Master) -> None:
        self._master = master
        self._commands = Commands(master)

    @classmethod
    async def login(cls, target: str, *, program: str = "ssh", options: tuple[str, ...] = ()) -> Self:
        """Log in as `ssh TARGET` does when it may ask nothing; `options` are words for ssh before the target.

        Raises Unreachable with what ssh said.
        """
        return cls(await Master.open(target, program, options))

    @property
    def name(self) -> str:
        """The name the operator gave it."""
        return self._master.name

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        """Run a POSIX sh script to its end; `timeout` in seconds ends it, `limit` bounds each output in bytes."""
        return await self._commands.run(script, stdin=stdin, timeout=timeout, limit=limit)

    def stream(self, script: str) -> AbstractAsyncContextManager[Stream]:
        """Run a POSIX sh script and read its output as it comes; leaving the context ends it on the host."""
        return self._commands.stream(script)

    async def open(self, path: str) -> OpenFile:
        """Open a file for following; raises ChannelRefused ("missing", "denied", "unsupported")."""
        return await ShellFile.open(self._commands, self.name, path)

    async def connect(self, host: str, port: int) -> ByteStream:
        """Open a TCP connection from the host to host:port; "refused", "forbidden" or "timeout" after two seconds."""
        return await MasterTcp.open(self._master, host, port)

    async def closed(self) -> str:
        """Return, in words, why the connection ended, when it ends."""
        return await self._master.ended()

    async def close(self) -> None:
        """End all that runs here, and the connection where it is our own."""
        self._commands.close()
        await self._master.close()
