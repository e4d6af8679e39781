"""A ProxyCommand: a program whose standard input and output are the connection.

Started here and not by asyncssh, which would feed the program's error messages into the SSH stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket

ERRORS_KEPT = 2000


class Proxy:
    """A running ProxyCommand; `socket` is our end of it."""

    def __init__(self, ours: socket.socket, process: asyncio.subprocess.Process) -> None:
        self.socket = ours
        self._process = process
        self._errors = b""
        self._reader = asyncio.ensure_future(self._read_errors())

    @classmethod
    async def start(cls, command: str) -> Proxy:
        """Start the command as ssh does: through a shell, in a process group of its own."""
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                f"exec {command}",
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return cls(ours, process)

    async def errors(self) -> str:
        """Return what it wrote to its standard error, waiting a moment for the end of it."""
        await asyncio.wait({self._reader}, timeout=0.5)
        return self._errors.decode("utf-8", "replace")

    async def close(self) -> None:
        """End the program and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            if self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGTERM)
        self._reader.cancel()
        await asyncio.gather(self._reader, self._process.wait(), return_exceptions=True)
        self.socket.close()

    async def _read_errors(self) -> None:
        if self._process.stderr is not None:
            while chunk := await self._process.stderr.read(1024):
                self._errors = (self._errors + chunk)[:ERRORS_KEPT]
