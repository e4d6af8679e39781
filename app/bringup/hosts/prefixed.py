"""A host behind a command on another host: a container, a pod or a node of a job, by its runtime's own client.

Every script runs as `docker exec -i NAME sh -c SCRIPT` and the like; the log is the runtime's own. What the inside
lacks (nvidia-smi, awk, a shell) shows as it does on any host: the channel that needs it is closed and says why.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from bringup.core.errors import ChannelRefused, Unreachable
from bringup.core.sanitize import clean_text
from bringup.hosts.base import ByteStream, Completed, Host, OpenFile, Stream
from bringup.hosts.prefixed_file import PrefixedFile
from bringup.hosts.scripts import Output, guarded, marked, new_mark
from bringup.hosts.splice import Splice
from bringup.hosts.ways import Way

ENTER_TIMEOUT = 30.0
"""Seconds for the first command: a node of a job may be busy."""
STDERR_LIMIT = 1 << 16
_MARKS = 4096
_NO_SHELL = ("executable file not found", "no such file or directory", "exec format error")


class PrefixedHost:
    """What a way leads to, on another host; closes that host with itself."""

    def __init__(self, inner: Host, way: Way) -> None:
        self._inner = inner
        self.way = way

    @classmethod
    async def enter(cls, inner: Host, way: Way) -> PrefixedHost:
        """Make sure that the way leads somewhere; raises Unreachable with the runtime's own words."""
        host = cls(inner, way)
        try:
            await host.run("exit 0", timeout=ENTER_TIMEOUT)
            await host.main_pid()
        except ChannelRefused as refused:
            await inner.close()
            raise Unreachable(refused.what, refused.hint) from refused
        except BaseException:
            await inner.close()
            raise
        return host

    @property
    def name(self) -> str:
        """What is watched, and on which host."""
        return f"{self.way.words} on {self._inner.name}"

    @property
    def log_name(self) -> str:
        """The log command as an operator reads it."""
        return " ".join(self.way.log_since("", 0).split())

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        """Run a POSIX sh script there; raises ChannelRefused where the runtime does not let us in."""
        if not self.way.run:
            return await self._inner.run(script, stdin=stdin, timeout=timeout, limit=limit)
        mark = new_mark()
        command = f"exec {self.way.run} sh -c {shlex.quote(marked(script, mark))}"
        done = await self._inner.run(command, stdin=stdin, timeout=timeout, limit=limit + _MARKS)
        out, err = Output(mark, limit), Output(mark, limit)
        out.keep(done.stdout)
        err.keep(done.stderr)
        if not out.begun:
            raise self._refusal(done.stderr or done.stdout)
        return Completed(done.status, out.kept, err.kept)

    def stream(self, script: str) -> AbstractAsyncContextManager[Stream]:
        """Run a POSIX sh script there and read its output as it comes; it ends there with its standard input."""
        return self._stream(script) if self.way.run else self._inner.stream(script)

    def log(self, splice: Splice) -> AbstractAsyncContextManager[Stream]:
        """Run the runtime's own log command, from where `splice` is."""
        return self._inner.stream(f"exec {self.way.log_since(*splice.since)} 2>&1")

    async def main_pid(self) -> int | None:
        """Return the PID of the main process, 0 while there is none, None where the way does not tell it."""
        if not self.way.pid:
            return None
        done = await self._inner.run(self.way.pid)
        found = re.search(rb"\d+", done.stdout)
        if done.status or found is None:
            raise self._refusal(done.stderr or done.stdout)
        return int(found[0])

    async def open(self, path: str) -> OpenFile:
        """Open a file for following."""
        return await (PrefixedFile.open(self, path) if self.way.run else self._inner.open(path))

    async def connect(self, host: str, port: int) -> ByteStream:
        """Open a TCP connection; through a prefix there is none, and a program there asks instead ("forbidden")."""
        if not self.way.run:
            return await self._inner.connect(host, port)
        raise ChannelRefused(f"No connection can be made from {self.name}.", reason="forbidden")

    async def closed(self) -> str:
        """Return why the connection to the host ended, when it does."""
        return await self._inner.closed()

    async def close(self) -> None:
        """End the connection to the host."""
        await self._inner.close()

    @asynccontextmanager
    async def _stream(self, script: str) -> AsyncIterator[Stream]:
        mark = new_mark()
        inside = shlex.quote(marked(guarded(script), mark))
        # A client that is ended closes the standard input of what it runs: by that it ends there, too. What the shell
        # says of the feeder's end is nobody's business.
        command = f"""exec 9>&2 2>/dev/null
{{ sh -c 'echo $PPID'; exec sleep 2147483647 9>&-; }} | {{
read -r feeder
{self.way.run} sh -c {inside} 2>&9 9>&-
status=$?
kill "$feeder"
exit $status
}}"""
        async with self._inner.stream(command) as inner:
            yield _Inside(inner, mark, self._refusal)

    def _refusal(self, said: bytes) -> ChannelRefused:
        words = clean_text(said.decode("utf-8", "replace")).strip().rstrip(".")[-300:]
        if any(sign in words.lower() for sign in _NO_SHELL) and "sh" in words:
            return ChannelRefused(
                f"Nothing can be run in {self.name}: {words}.",
                "It may have no shell, or the client is not installed on the host.",
                reason="unsupported",
            )
        hint = "Check the name, and whether it runs; try the same command by hand."
        return ChannelRefused(f"There is no way into {self.name}: {words or 'nothing was said'}.", hint)


class _Inside:
    """The output of a script that announces itself, without what came before."""

    def __init__(self, inner: Stream, mark: bytes, refusal: Callable[[bytes], ChannelRefused]) -> None:
        self._inner = inner
        self._mark = mark
        self._out = Output(mark, 0)
        self._refusal = refusal

    async def read(self, size: int = 65536) -> bytes:
        """Return what is there; raises ChannelRefused where the script was never begun."""
        while chunk := await self._inner.read(size):
            if data := self._out.take(chunk):
                return data
        if not self._out.begun:
            raise self._refusal((await self._inner.status()).stderr)
        return b""

    async def status(self) -> Completed:
        """Return the exit status and standard error after the end."""
        done = await self._inner.status()
        err = Output(self._mark, STDERR_LIMIT)
        err.keep(done.stderr)
        return Completed(done.status, b"", err.kept)


def through(connect: Callable[[], Awaitable[Host]], way: Way | None) -> Callable[[], Awaitable[Host]]:
    """Return a callable that connects and goes the way from there; without a way, `connect` itself."""
    if way is None:
        return connect

    async def connected() -> Host:
        return await PrefixedHost.enter(await connect(), way)

    return connected
