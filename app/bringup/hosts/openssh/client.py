"""One `ssh` process of this machine, in the shape in which commands expect a running one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from bringup.core.errors import ChannelRefused
from bringup.hosts.scripts import wire

END_TIMEOUT = 2.0
"""Seconds from SIGTERM to SIGKILL."""
_CHUNK = 1 << 16
_SSHS_OWN = 255
IsLost = Callable[[], Awaitable[bool]]


class Client:
    """A process with three pipes. Closing it closes its channel, and the guard on the host ends what ran there."""

    def __init__(self, process: asyncio.subprocess.Process, ending: set[asyncio.Task[None]], is_lost: IsLost) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("an ssh process needs three pipes")
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
        self._process = process
        self._ending = ending
        self._is_lost = is_lost
        self._lost = False
        self._closing = False

    @classmethod
    async def start(
        cls, words: Sequence[str], ending: set[asyncio.Task[None]], is_lost: IsLost, limit: int = _CHUNK
    ) -> Client:
        """Start the words; `ending` collects the tasks that see a closed process to its end.

        `is_lost` tells whether the connection has ended: ssh says 255 then, which may be a command's own status, too.
        Raises ChannelRefused where this machine cannot start it.
        """
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *map(wire, words), stdin=pipe, stdout=pipe, stderr=pipe, limit=limit, start_new_session=True
            )
        except OSError as error:
            raise ChannelRefused(f"{words[0]} cannot be started: {error.strerror}.") from error
        return cls(process, ending, is_lost)

    @property
    def returncode(self) -> int | None:
        """Its exit status; None while it runs, and where the connection ended before it."""
        return None if self._lost else self._process.returncode

    async def wait_closed(self) -> None:
        """Wait for its end."""
        if await self._process.wait() == _SSHS_OWN and not self._closing:
            self._lost = await self._is_lost()

    def close(self) -> None:
        """End it; waits for nothing."""
        if self._closing:
            return
        self._closing = True
        task = asyncio.ensure_future(self._end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self) -> None:
        self.stdin.close()
        for stop in (self._process.terminate, self._process.kill):
            with contextlib.suppress(ProcessLookupError):
                stop()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_TIMEOUT):
                    await asyncio.gather(self._drain(self.stdout), self._drain(self.stderr))
                    await self._process.wait()
                return

    async def _drain(self, reader: asyncio.StreamReader) -> None:
        """Read what is left: a pipe that nobody reads is never seen to end. Somebody may still be waiting on it."""
        with contextlib.suppress(RuntimeError):
            while await reader.read(_CHUNK):
                continue
