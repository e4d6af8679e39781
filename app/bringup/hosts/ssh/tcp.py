"""TCP connections that the host makes for us (direct-tcpip channels)."""

from __future__ import annotations

import asyncio

import asyncssh

from bringup.core.errors import ChannelRefused, Reason
from bringup.hosts.openings import open_or_undo
from bringup.hosts.ssh.errors import NETWORK, printable
from bringup.hosts.ssh.line import Line

OPEN_TIMEOUT = 2.0
Ends = tuple[asyncssh.SSHReader[bytes], asyncssh.SSHWriter[bytes]]
# What OpenSSH answers, in words: RFC 4254 has one code for every connection that failed.
FAILURES: tuple[tuple[str, Reason], ...] = (
    ("refused", "refused"),
    ("timed out", "timeout"),
)


class SshTcp:
    """One connection made from the host."""

    def __init__(self, line: Line, ends: Ends) -> None:
        self._line = line
        self._reader, self._writer = ends

    @classmethod
    async def open(cls, line: Line, host: str, port: int) -> SshTcp:
        """Open a connection from the host to host:port within two seconds."""
        if line.is_lost:
            raise line.loss()
        opening = line.conn.open_connection(host, port, encoding=None)
        where = f"{host}:{port} on {line.name}"
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                return cls(line, await open_or_undo(opening, _close))
        except TimeoutError as exc:
            raise ChannelRefused(f"{where} does not answer.", reason="timeout") from exc
        except asyncssh.ChannelOpenError as exc:
            if line.is_lost:
                raise line.loss() from exc
            raise _refusal(exc, where) from exc
        except NETWORK as exc:
            raise line.loss() from exc

    async def read(self, size: int = 65536) -> bytes:
        """Return what is there, at most `size` bytes; b"" at the end."""
        try:
            chunk = await self._reader.read(size)
        except NETWORK as exc:
            if self._line.is_lost:
                raise self._line.loss() from exc
            return b""
        if not chunk and self._line.is_lost:
            raise self._line.loss()
        return chunk

    async def write(self, data: bytes) -> None:
        """Send `data`."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except NETWORK as exc:
            if self._line.is_lost:
                raise self._line.loss() from exc
            raise ChannelRefused("The other side closed the connection.") from exc

    async def close(self) -> None:
        """Close the connection; never raises."""
        self._writer.close()


def _refusal(exc: asyncssh.ChannelOpenError, where: str) -> ChannelRefused:
    if exc.code in (asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, asyncssh.OPEN_UNKNOWN_CHANNEL_TYPE):
        return ChannelRefused(
            f"The ssh server does not let us connect to {where}.",
            "AllowTcpForwarding yes in its sshd_config would.",
            reason="forbidden",
        )
    words = printable(str(exc))
    reason: Reason = next((reason for text, reason in FAILURES if text in words.lower()), "other")
    return ChannelRefused(f"{where} cannot be connected to: {words}.", reason=reason)


def _close(ends: Ends) -> None:
    ends[1].close()
