"""Exec requests of the demo's SSH server: real shells, with the habits of sshd.

Standard streams are pipes and stay binary; both directions hold back when the other side does not read; a signal goes
to the command's process group; the exit status is sent when the command has ended and its output is through.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from typing import Any

import asyncssh

from bringup.core.errors import BringupError
from bringup.demo.files import open_files
from bringup.demo.spawner import Running, Spawner

PIECE = 1 << 16
REFUSED = 254
"""Exit status for what this server does not offer, and for a command that could not be started."""
NO_SHELL = b"This simulated host runs single commands only.\n"
SFTP_VERSION = 3
SIGNALS = ("ABRT", "ALRM", "FPE", "HUP", "INT", "KILL", "PIPE", "QUIT", "SEGV", "TERM", "USR1", "USR2")
"""Those that sshd passes on (RFC 4254 §6.10)."""


class Session(asyncssh.SSHServerProcess[bytes]):
    """One session channel: a command, or the SFTP subsystem."""

    def __init__(self, spawner: Spawner, environ: Mapping[str, str]) -> None:
        super().__init__(self._handle, open_files, sftp_version=SFTP_VERSION, allow_scp=False)
        self._spawner = spawner
        self._environ = environ
        self._running: Running | None = None

    def signal_received(self, signal: str) -> None:
        """Pass a signal on at once: in asyncssh's stream it would wait behind unread input."""
        if self._running is not None and signal in SIGNALS:
            self._spawner.signal(self._running, _number(signal))

    async def _handle(self, _process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Serve one exec request to its end."""
        if self.command is None or self.subsystem is not None:
            self._refuse(NO_SHELL)
            return
        pipes = [os.pipe() for _ in range(3)]
        theirs, ours = _split(pipes)
        environ = {**self._environ, "SSH_CONNECTION": self._connection()}
        running = self._spawner.run("/bin/sh", ["sh", "-c"], self.command, environ, theirs)
        # From here on, not from its start: the supervisor takes orders in their order, and no signal may be lost.
        self._running = running
        for fd in theirs:
            os.close(fd)
        try:
            await running.started
        except BringupError as error:
            for fd in ours:
                os.close(fd)
            self._refuse(f"{error}\n".encode())
            return
        await self._converse(running, *ours)

    async def _converse(self, running: Running, stdin: int, stdout: int, stderr: int) -> None:
        feeding = asyncio.create_task(self._feed(stdin))
        closed = asyncio.create_task(self.wait_closed())
        done = asyncio.gather(asyncio.shield(running.ended), _drain(stdout, self.stdout), _drain(stderr, self.stderr))
        try:
            waiting: set[asyncio.Future[Any]] = {done, closed}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not closed.done():
                self._report(running)
        finally:
            if not running.ended.done():
                self._spawner.hang_up(running)
            for task in (feeding, done, closed):
                task.cancel()
            await asyncio.gather(feeding, done, closed, return_exceptions=True)

    async def _feed(self, fd: int) -> None:
        """Pass on standard input until its end."""
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(fd, "wb", 0)
        )
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        try:
            while data := await self._next_input():
                writer.write(data)
                await writer.drain()
        except (BrokenPipeError, ConnectionResetError):
            # The command has closed its standard input, which is its right; what still comes is dropped.
            while await self._next_input():
                continue
        finally:
            writer.close()

    async def _next_input(self) -> bytes:
        while True:
            try:
                return await self.stdin.read(PIECE)
            except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged):
                continue
            except (asyncssh.Error, OSError):
                # The connection is gone; `_converse` sees that by itself.
                return b""

    def _report(self, running: Running) -> None:
        status = running.ended.result()
        if status < 0:
            name = signal.Signals(-status).name.removeprefix("SIG")
            self.exit_with_signal(name, core_dumped=running.core)
        else:
            self.exit(status)

    def _refuse(self, why: bytes) -> None:
        self.stderr.write(why)
        self.exit(REFUSED)

    def _connection(self) -> str:
        client, server = self.get_extra_info("peername"), self.get_extra_info("sockname")
        return f"{client[0]} {client[1]} {server[0]} {server[1]}"


def _number(name: str) -> int:
    return int(getattr(signal, f"SIG{name}"))


def _split(pipes: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the command's ends and our ends of the pipes for standard input, output and error."""
    (in_read, in_write), (out_read, out_write), (err_read, err_write) = pipes
    return [in_read, out_write, err_write], [in_write, out_read, err_read]


async def _drain(fd: int, sink: asyncssh.SSHWriter[bytes]) -> None:
    """Pass on what the command writes until nobody holds the pipe any more."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0)
    )
    try:
        while data := await reader.read(PIECE):
            sink.write(data)
            await sink.drain()
    except (asyncssh.Error, OSError):
        # The channel is gone, and with it the reader of this output.
        return
    finally:
        transport.close()
