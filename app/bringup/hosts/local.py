"""This machine as a host."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import ByteStream, Completed, OpenFile, Stream
from bringup.hosts.local_files import LocalFile
from bringup.hosts.openings import open_or_undo
from bringup.hosts.scripts import Output, guarded, wire

CHUNK = 1 << 16
CONNECT_TIMEOUT = 2.0
END_TIMEOUT = 2.0
"""Seconds from SIGTERM to SIGKILL."""
STDERR_LIMIT = 1 << 16


class LocalHost:
    """This machine: commands run under /bin/sh in a process group of their own and end with us."""

    def __init__(self, name: str = "") -> None:
        self._name = name or socket.gethostname()
        self._running: set[asyncio.subprocess.Process] = set()
        self._opening: set[asyncio.Task[asyncio.subprocess.Process]] = set()
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        """The name of this machine."""
        return self._name

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        """Run a POSIX sh script to its end; `timeout` in seconds ends it, `limit` bounds each output in bytes."""
        process = await self._start(script)
        out, err = Output(b"", limit), Output(b"", limit)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.gather(
                    _feed(process, stdin), _collect(process.stdout, out), _collect(process.stderr, err)
                )
                status = await process.wait()
        except TimeoutError as exc:
            raise ChannelRefused(
                f"A command on {self._name} did not end within {timeout:g} s and was ended.",
                "The machine may be overloaded, or a program it calls (nvidia-smi, a network file system) hangs.",
                reason="timeout",
            ) from exc
        finally:
            await self._end(process)
        return Completed(_shell_status(status), out.kept, err.kept)

    @contextlib.asynccontextmanager
    async def stream(self, script: str) -> AsyncIterator[Stream]:
        """Run a POSIX sh script and read its output as it comes; leaving the context ends it."""
        # The guard ends the script also when this process is killed: then its standard input ends.
        process = await self._start(guarded(script))
        stream = LocalStream(process)
        try:
            yield stream
        finally:
            await stream.stop()
            await self._end(process)

    async def open(self, path: str) -> OpenFile:
        """Open a file for following; raises ChannelRefused ("missing", "denied", "unsupported")."""
        return await LocalFile.open(path)

    async def connect(self, host: str, port: int) -> ByteStream:
        """Open a TCP connection; raises ChannelRefused ("refused", "timeout")."""
        where = f"{host}:{port} on {self._name}"
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                return LocalTcp(*await asyncio.open_connection(host, port))
        except TimeoutError as exc:
            raise ChannelRefused(f"{where} does not answer.", reason="timeout") from exc
        except ConnectionRefusedError as exc:
            raise ChannelRefused(f"{where} cannot be connected to: nobody listens.", reason="refused") from exc
        except OSError as exc:
            raise ChannelRefused(f"{where} cannot be connected to: {exc.strerror or exc}.") from exc

    async def closed(self) -> str:
        """Never return: this machine cannot be lost."""
        await asyncio.Event().wait()
        return ""

    async def close(self) -> None:
        """End every command that still runs; whoever runs it collects what is left of it."""
        for process in self._running:
            _signal_group(process, signal.SIGTERM)
        # A start that was given up is undone when it has happened.
        await asyncio.gather(*self._opening, return_exceptions=True)
        await asyncio.sleep(0)
        await asyncio.gather(*self._ending)

    async def _start(self, script: str) -> asyncio.subprocess.Process:
        opening = asyncio.ensure_future(_shell(script))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        try:
            process = await open_or_undo(opening, self._end_soon)
        except OSError as exc:
            raise ChannelRefused(f"{self._name} cannot start a command: {exc.strerror}.") from exc
        self._running.add(process)
        return process

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        self._running.discard(process)
        if process.stdin is not None:
            process.stdin.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            _signal_group(process, number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_TIMEOUT):
                    # Reads what is left: a pipe that nobody reads is never seen to end.
                    await process.communicate()
                return

    def _end_soon(self, process: asyncio.subprocess.Process) -> None:
        task = asyncio.ensure_future(self._end(process))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


class LocalStream:
    """The output of a long-lived command; the pipe makes it wait while nobody reads."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._err = Output(b"", STDERR_LIMIT)
        self._errors = asyncio.ensure_future(_collect(process.stderr, self._err))

    async def read(self, size: int = CHUNK) -> bytes:
        """Return what is there, at most `size` bytes; b"" when the command has ended."""
        return await self._process.stdout.read(size) if self._process.stdout else b""

    async def status(self) -> Completed:
        """Return the exit status and standard error after the end of the stream."""
        while await self.read():
            continue
        await asyncio.wait({self._errors})
        return Completed(_shell_status(await self._process.wait()), b"", self._err.kept)

    async def stop(self) -> None:
        """Stop collecting the standard error."""
        self._errors.cancel()
        await asyncio.gather(self._errors, return_exceptions=True)


class LocalTcp:
    """A TCP connection made by this machine."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, size: int = CHUNK) -> bytes:
        """Return what is there, at most `size` bytes; b"" at the end."""
        try:
            return await self._reader.read(size)
        except ConnectionError:
            return b""

    async def write(self, data: bytes) -> None:
        """Send `data`."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as exc:
            raise ChannelRefused("The other side closed the connection.") from exc

    async def close(self) -> None:
        """Close the connection; never raises."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def _shell(script: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        wire(script),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )


def _signal_group(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    # Without a return code it has not been reaped, so its number cannot have become another process's.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


async def _feed(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    # A command need not read what it is given: what becomes of it shows in its status.
    if process.stdin is not None:
        with contextlib.suppress(ConnectionError):
            process.stdin.write(stdin)
            await process.stdin.drain()
        process.stdin.close()


async def _collect(reader: asyncio.StreamReader | None, output: Output) -> None:
    while reader is not None and (chunk := await reader.read(CHUNK)):
        output.keep(chunk)


def _shell_status(code: int) -> int:
    return code if code >= 0 else 128 - code
