"""The connection that the system's ssh holds: our own, or one that the operator has open already."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bringup.core.errors import ChannelRefused, ConnectionLost, LoginRefused, Unreachable
from bringup.hosts.naming import plain_target
from bringup.hosts.openssh.client import Client
from bringup.hosts.ssh.errors import lost, printable

LOGIN_TIMEOUT = 60.0
"""Seconds for the login: a FIDO key waits to be touched."""
_LOOK_EVERY = 0.05
_CHECK_EVERY = 5.0
_CHECK_TIMEOUT = 10.0
_SETTLES = 3.0
"""Seconds after which a channel that ended by itself did not end with the connection."""
_LONGEST_FOLDER = 50
"""ssh adds 17 letters to the name of its socket for a moment, and the kernel takes 104 or 108 in all (unix(7))."""
_OURS = (
    *("-o", "ControlMaster=yes", "-o", "ControlPersist=no", "-o", "ServerAliveInterval=5"),
    *("-o", "ServerAliveCountMax=3", "-o", "ExitOnForwardFailure=no", "-N"),
)
_NO_OTHER = ("-o", "ProxyCommand=false")
"""Without it ssh logs in anew where the socket's owner is gone, and what it starts outlives the connection."""
_QUIET = ("-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-T")
_REFUSALS = ("permission denied", "authentication failures", "host key verification failed")


class Master:
    """One connection; starts channels on it."""

    def __init__(self, name: str, words: tuple[str, ...]) -> None:
        self.name = name
        self._words = words
        """ssh, its options and the way to the socket; the target comes last."""
        self._process: Client | None = None
        self._folder = ""
        self._ending: set[asyncio.Task[None]] = set()
        self._over = asyncio.Event()
        self._why = ""
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, target: str, program: str, options: Sequence[str]) -> Master:
        """Use the connection that the operator has open, else make one; raises Unreachable."""
        name = plain_target(target)
        where = shutil.which(program)
        if where is None:
            raise Unreachable(f"There is no {program} on this machine.")
        plain = (where, *options, *_QUIET)
        standing = cls(name, plain)
        if await standing._answers():
            standing._watch = asyncio.create_task(standing._look(), name="ssh-check")
            return standing
        folder = tempfile.mkdtemp(
            prefix="bringup-", dir="/tmp" if len(tempfile.gettempdir()) > _LONGEST_FOLDER else None
        )
        own = cls(name, (*plain, "-S", str(Path(folder, "s"))))
        own._folder = folder
        try:
            await own._connect()
        except BaseException:
            await own.close()
            raise
        return own

    @property
    def is_lost(self) -> bool:
        """The connection has ended."""
        return self._over.is_set()

    def loss(self) -> ConnectionLost:
        """Return the error of a connection that has ended."""
        return lost(self.name, self._why)

    async def ended(self) -> str:
        """Wait for the end of the connection and say why it came."""
        await self._over.wait()
        return self.loss().what

    async def start(self, command: str, window: int) -> Client:
        """Start a command of the login shell."""
        return await self.client("--", self.name, command, limit=window)

    async def client(self, *words: str, limit: int = 1 << 16) -> Client:
        """Start an ssh process that goes through the connection."""
        only = _NO_OTHER if self._folder else ()
        return await Client.start((*self._words, *only, *words), self._ending, self._has_ended, limit)

    async def close(self) -> None:
        """End the connection where it is our own, and every process that is still being ended; never raises."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._process is not None:
            self._process.close()
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._folder:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _connect(self) -> None:
        words = (*self._words, *_OURS, "--", self.name)
        self._process = await Client.start(words, self._ending, _is_the_connection)
        over = asyncio.ensure_future(self._process.wait_closed())
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT):
                while not over.done() and not self._stands():
                    await asyncio.wait({over}, timeout=_LOOK_EVERY)
        except TimeoutError as error:
            raise Unreachable(f"ssh was not logged in to {self.name} within {LOGIN_TIMEOUT:.0f} s.") from error
        finally:
            over.cancel()
        if not self._stands():
            raise await self._refusal(self._process)
        self._watch = asyncio.create_task(self._wait(self._process), name="ssh-master")

    def _stands(self) -> bool:
        """ssh makes the socket when it is logged in."""
        return Path(self._folder, "s").exists()

    async def _refusal(self, process: Client) -> Unreachable:
        said = printable((await process.stderr.read()).decode("utf-8", "replace")) or "nothing"
        kind = LoginRefused if any(words in said.lower() for words in _REFUSALS) else Unreachable
        return kind(f"The system's ssh cannot log in to {self.name} without asking: it says: {said}.")

    async def _wait(self, process: Client) -> None:
        """Our own connection ends with its process."""
        why = (await process.stderr.read()).decode("utf-8", "replace")
        await process.wait_closed()
        self._why = printable(why)
        self._over.set()

    async def _look(self) -> None:
        """The operator's connection is asked now and then whether it is still there."""
        while True:
            await asyncio.sleep(_CHECK_EVERY)
            if not await self._answers():
                break
        self._why = "the standing connection of ssh has ended"
        self._over.set()

    async def _has_ended(self) -> bool:
        """Tell after the end of a channel whether it was the connection's: that shows a moment later."""
        if self._process is None or self._watch is None:
            return self.is_lost
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), _SETTLES)
        return self.is_lost

    async def _answers(self) -> bool:
        try:
            asked = await self.client("-O", "check", "--", self.name)
        except ChannelRefused:
            return False
        try:
            async with asyncio.timeout(_CHECK_TIMEOUT):
                await asked.wait_closed()
        except TimeoutError:
            return False
        finally:
            asked.close()
        return asked.returncode == 0


async def _is_the_connection() -> bool:
    """The process that is the connection itself: with its end the connection has ended."""
    return True
