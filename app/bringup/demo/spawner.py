"""The demo's side of its supervisor: start a command there, signal it, learn how it ended."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import bringup
from bringup.core.errors import BringupError

STARTED_WITHIN = 10.0
MESSAGE = 1 << 16


class Running:
    """A command under the supervisor: `ended` becomes its exit status, negative for the signal that ended it."""

    def __init__(self, key: int) -> None:
        loop = asyncio.get_running_loop()
        self.key = key
        self.started: asyncio.Future[int] = loop.create_future()
        self.ended: asyncio.Future[int] = loop.create_future()
        self.core = False


class Spawner:
    """Starts the supervisor and talks to it."""

    def __init__(self, home: Path, python: Path) -> None:
        self._home = home
        self._python = python
        self._sock, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._running: dict[int, Running] = {}
        self._next = 0
        self._process: asyncio.subprocess.Process | None = None
        self._up: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.pid = 0

    async def start(self) -> None:
        """Start the supervisor; raises BringupError when it does not come up."""
        errors = self._home / "supervisor.err"
        with self._theirs as theirs, errors.open("wb") as stderr:
            self._process = await asyncio.create_subprocess_exec(
                self._python,
                *("-m", "bringup.demo.supervisor", str(theirs.fileno()), str(self._home)),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env={"PYTHONPATH": str(Path(bringup.__file__).parent.parent), "PATH": os.defpath},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=stderr,
            )
        asyncio.get_running_loop().add_reader(self._sock, self._hear)
        try:
            self.pid = await asyncio.wait_for(asyncio.shield(self._up), STARTED_WITHIN)
        except (TimeoutError, ConnectionError) as error:
            why = errors.read_text(errors="replace").strip().rpartition("\n")[2] if errors.exists() else ""
            raise BringupError("The demo's supervisor did not start.", why) from error

    def run(
        self, file: str, argv: Sequence[str], command: str, environ: Mapping[str, str], fds: Sequence[int]
    ) -> Running:
        """Start `file` with `argv` and `command` as its last argument; `fds` become 0, 1 and 2."""
        self._next += 1
        running = self._running[self._next] = Running(self._next)
        order = {"do": "run", "key": self._next, "file": file, "argv": argv, "environ": list(environ.items())}
        data = json.dumps(order).encode() + b"\n" + os.fsencode(command)
        try:
            socket.send_fds(self._sock, [data], list(fds))
        except OSError as error:
            self._lose(running, f"The demo could not start the command: {error.strerror}.")
        return running

    def signal(self, running: Running, number: int) -> None:
        """Signal the command's process group, as sshd does; nothing happens when it has ended."""
        self._order({"do": "signal", "key": running.key, "signal": number})

    def hang_up(self, running: Running) -> None:
        """Tell a command whose channel is gone to end: SIGHUP, and soon SIGKILL."""
        self._order({"do": "hangup", "key": running.key, "signal": int(signal.SIGHUP)})

    async def stop(self) -> None:
        """End the supervisor with everything below it, and wait for that."""
        asyncio.get_running_loop().remove_reader(self._sock)
        self._sock.close()
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), STARTED_WITHIN)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _order(self, order: Mapping[str, object]) -> None:
        with suppress(OSError):
            # A supervisor that is gone has taken its commands with it.
            self._sock.send(json.dumps(order).encode() + b"\n")

    def _hear(self) -> None:
        try:
            data = self._sock.recv(MESSAGE)
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        message = json.loads(data)
        if "up" in message:
            self._up.set_result(message["up"])
            return
        running = self._running.get(message["key"])
        if running is None:
            return
        if "pid" in message:
            running.started.set_result(message["pid"])
        elif "failed" in message:
            self._lose(running, message["failed"])
        else:
            running.core = message["core"]
            self._settle(running.ended, message["status"])
            del self._running[running.key]

    def _end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._sock)
        if not self._up.done():
            self._up.set_exception(ConnectionResetError("the supervisor ended"))
        for running in list(self._running.values()):
            self._lose(running, "The demo's host has ended.")

    def _lose(self, running: Running, why: str) -> None:
        if not running.started.done():
            running.started.set_exception(BringupError(why))
        self._settle(running.ended, 255)
        self._running.pop(running.key, None)

    @staticmethod
    def _settle(future: asyncio.Future[int], value: int) -> None:
        if not future.done():
            future.set_result(value)
