"""A host whose scripts see an environment of the test's own, and one whose connection is cut at a chosen moment."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from bringup.core.errors import ConnectionLost
from bringup.hosts.base import ByteStream, Completed, Host, OpenFile, Stream


class Placed:
    """Another host, with variables set for every script."""

    def __init__(self, host: Host, environ: Mapping[str, str]) -> None:
        self.inner = host
        pairs = " ".join(f"{name}={shlex.quote(value)}" for name, value in environ.items())
        self._prefix = f"export {pairs}\n"
        self.scripts: list[str] = []

    @property
    def name(self) -> str:
        return self.inner.name

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        self.scripts.append(script)
        return await self.inner.run(self._prefix + script, stdin=stdin, timeout=timeout, limit=limit)

    def stream(self, script: str) -> AbstractAsyncContextManager[Stream]:
        return self.inner.stream(self._prefix + script)

    async def open(self, path: str) -> OpenFile:
        return await self.inner.open(path)

    async def connect(self, host: str, port: int) -> ByteStream:
        return await self.inner.connect(host, port)

    async def closed(self) -> str:
        return await self.inner.closed()

    async def close(self) -> None:
        await self.inner.close()


class CutAt(Placed):
    """A connection that is gone from its script number `at` on: before that one runs, or after it, with its answer."""

    def __init__(self, host: Host, environ: Mapping[str, str], at: int, *, after: bool) -> None:
        super().__init__(host, environ)
        self._at = at
        self._after = after

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        number = len(self.scripts)
        if number < self._at:
            return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)
        if number == self._at and self._after:
            await super().run(script, stdin=stdin, timeout=timeout, limit=limit)
        else:
            self.scripts.append(script)
        raise ConnectionLost("The connection was cut by the test.")


class LosesTheAnswer(Placed):
    """A connection that is lost while its host launches: that is done, and nobody hears of it."""

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        done = await super().run(script, stdin=stdin, timeout=timeout, limit=limit)
        if "become.pl" in script:
            raise ConnectionLost("The connection was cut by the test.")
        return done
