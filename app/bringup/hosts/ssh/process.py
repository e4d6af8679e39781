"""Commands over SSH: one that runs to its end, one whose output is read as it comes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import asyncssh

from bringup.core.errors import BringupError, ChannelRefused
from bringup.hosts.base import Completed, Stream
from bringup.hosts.openings import open_or_undo
from bringup.hosts.scripts import Output, guarded, guarded_with_input, marked, new_mark, remote_command
from bringup.hosts.ssh.errors import NETWORK, channel_error, printable
from bringup.hosts.ssh.way import Process, Reader, Way

CHUNK = 1 << 16
STREAM_WINDOW = 4 << 20
"""Bytes in flight of a stream: enough for 40 MB/s at a round trip of 100 ms."""
STDERR_LIMIT = 1 << 16
FULL = 0.1
"""Seconds before another try where all sessions are taken, one of them by a command that ends soon."""
LINGERS = 1.0
"""Seconds for which the host may still count the session of a command that has ended."""


class Commands:
    """Starts commands on a host, and ends every one that is still there at the end."""

    def __init__(self, line: Way) -> None:
        self._line = line
        self._running: set[Process] = set()
        self.kept = 0
        """Sessions that are held beside the commands: the file service's."""
        self._short = 0
        """Commands under way that end soon."""
        self._waiting = 0
        """Streams that wait for a session: commands that end soon come after them."""
        self._ended = -LINGERS
        """When one of them ended, on the loop's clock."""

    @property
    def held(self) -> int:
        """Sessions that are open on this connection."""
        return len(self._running) + self.kept

    async def start(self, script: str, *, window: int = 2 << 20) -> Process:
        """Start a script; a cancelled start is ended as soon as the host has answered it."""
        if self._line.is_lost:
            raise self._line.loss()
        opening = self._line.start(remote_command(script), window)
        try:
            process = await open_or_undo(opening, _close)
        except NETWORK as exc:
            if self._line.is_lost or not isinstance(exc, asyncssh.ChannelOpenError):
                raise self._line.loss() from exc
            raise channel_error(exc, self._line.name, "start another command", self.held) from exc
        self._running.add(process)
        return process

    def ended(self, what: str) -> BringupError:
        """Return the error for a command that has ended: the connection's, where that is what ended it."""
        return self._line.loss() if self._line.is_lost else ChannelRefused(what, "It is started again when needed.")

    def end(self, process: Process) -> None:
        """Close the channel of a command; its guard then ends it on the host. Waits for nothing."""
        self._running.discard(process)
        process.close()

    async def run(self, script: str, *, stdin: bytes, timeout: float, limit: int) -> Completed:
        """Run a script to its end."""
        mark = new_mark()
        out, err = Output(mark, limit), Output(mark, limit)
        try:
            async with asyncio.timeout(timeout):
                whole = guarded_with_input(script, len(stdin)) if stdin else guarded(script)
                process = await self._start_short(marked(whole, mark))
                try:
                    await asyncio.gather(
                        _feed(process, stdin),
                        self.collect(process.stdout, out),
                        self.collect(process.stderr, err),
                    )
                    status = await self.status(process)
                finally:
                    self._short -= 1
                    self._ended = _now()
                    self.end(process)
        except TimeoutError as exc:
            raise ChannelRefused(
                f"A command on {self._line.name} did not end within {timeout:g} s and was ended.",
                "The host may be overloaded, or a program it calls (nvidia-smi, a network file system) hangs.",
                reason="timeout",
            ) from exc
        self.check_begun(out, status)
        return Completed(status, out.kept, err.kept)

    async def _start_short(self, script: str) -> Process:
        """Start a command that ends soon; where the host allows few sessions, after the one before it has ended."""
        while True:
            if not self._waiting:
                try:
                    process = await self.start(script)
                except ChannelRefused:
                    if not self._is_freed_soon():
                        raise
                else:
                    self._short += 1
                    return process
            await asyncio.sleep(FULL)

    async def _start_long(self, script: str) -> Process:
        """Start a command that stays, before any that ends soon; where the host allows few sessions, after those."""
        waits = 0
        try:
            while True:
                try:
                    return await self.start(script, window=STREAM_WINDOW)
                except ChannelRefused:
                    if not self._is_freed_soon():
                        raise
                self._waiting, waits = self._waiting + 1 - waits, 1
                await asyncio.sleep(FULL)
        finally:
            self._waiting -= waits

    def _is_freed_soon(self) -> bool:
        """A session is held by a command that ends soon, or has just ended."""
        return self._short > 0 or _now() <= self._ended + LINGERS

    @contextlib.asynccontextmanager
    async def stream(self, script: str) -> AsyncIterator[Stream]:
        """Run a guarded script and read its output as it comes."""
        mark = new_mark()
        process = await self._start_long(marked(guarded(script), mark))
        stream = SshStream(self, process, mark)
        try:
            yield stream
        finally:
            stream.stop()
            self._ended = _now()
            self.end(process)

    async def read(self, reader: Reader, size: int) -> bytes:
        """Read from a command; an end that is the connection's raises ConnectionLost."""
        try:
            chunk = await reader.read(size)
        except NETWORK as exc:
            raise self._line.loss() from exc
        if not chunk and self._line.is_lost:
            raise self._line.loss()
        return chunk

    async def collect(self, reader: Reader, output: Output) -> None:
        """Read one output to its end."""
        while chunk := await self.read(reader, CHUNK):
            output.keep(chunk)

    async def status(self, process: Process) -> int:
        """Wait for the exit status; a signal counts as 128 and its number, as a shell has it."""
        await process.wait_closed()
        code = process.returncode
        if code is None:
            raise self._line.loss()
        return code if code >= 0 else 128 - code

    def check_begun(self, out: Output, status: int) -> None:
        """Raise ChannelRefused when the login shell never came to run the script."""
        if not out.begun:
            raise ChannelRefused(
                f"The login shell on {self._line.name} ran no command (exit status {status}): {printable(out.noise)}.",
                "Is the account allowed to run commands? Look at its shell and its start files.",
                reason="forbidden",
            )

    def close(self) -> None:
        """End every command that still runs."""
        for process in list(self._running):
            self.end(process)


class SshStream:
    """The output of a long-lived command; while nobody reads it, asyncssh, sshd and the command wait."""

    def __init__(self, commands: Commands, process: Process, mark: bytes) -> None:
        self._commands = commands
        self._process = process
        self._out = Output(mark, 0)
        self._err = Output(mark, STDERR_LIMIT)
        # Both outputs share one window: a full standard error would stop the stream.
        self._errors = asyncio.ensure_future(commands.collect(process.stderr, self._err))

    async def read(self, size: int = CHUNK) -> bytes:
        """Return what is there, at most `size` bytes; b"" when the command has ended."""
        while chunk := await self._commands.read(self._process.stdout, size):
            data = self._out.take(chunk)
            if data:
                return data
        return b""

    async def status(self) -> Completed:
        """Return the exit status and standard error after the end of the stream."""
        while await self.read():
            continue
        status = await self._commands.status(self._process)
        await asyncio.wait({self._errors})
        self._commands.check_begun(self._out, status)
        return Completed(status, b"", self._err.kept)

    def stop(self) -> None:
        """Stop collecting the standard error."""
        self._errors.cancel()
        self._errors.add_done_callback(_retrieve)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _feed(process: Process, stdin: bytes) -> None:
    # A command need not read what it is given: what becomes of it shows in its status, not here. No end of file
    # follows: the guard takes it for our own end.
    with contextlib.suppress(*NETWORK):
        for start in range(0, len(stdin), CHUNK):
            process.stdin.write(stdin[start : start + CHUNK])
            await process.stdin.drain()


def _close(process: Process) -> None:
    process.close()


def _retrieve(task: asyncio.Future[None]) -> None:
    if not task.cancelled():
        task.exception()
