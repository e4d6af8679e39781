"""TCP connections that the host makes for us, through `ssh -W`."""

from __future__ import annotations

import asyncio

from bringup.core.errors import ChannelRefused, Reason
from bringup.hosts.openssh.client import Client
from bringup.hosts.openssh.master import Master
from bringup.hosts.ssh.errors import printable

OPEN_TIMEOUT = 2.0
_REASONS: tuple[tuple[str, Reason], ...] = (
    ("prohibited", "forbidden"),
    ("refused by peer", "forbidden"),
    ("connection refused", "refused"),
    ("timed out", "timeout"),
)
"""What ssh says where it cannot open the connection; it says nothing where it can. "Refused by peer" may come from the
host or from its ssh server: then it counts as forbidden, and whoever asks uses a program on the host instead."""


class MasterTcp:
    """One connection. `ssh -W` tells of a failure only by its end, so the first answer decides."""

    def __init__(self, master: Master, client: Client, where: str) -> None:
        self._master = master
        self._client = client
        self._where = where

    @classmethod
    async def open(cls, master: Master, host: str, port: int) -> MasterTcp:
        """Open a connection from the host to host:port; one that fails at once raises ChannelRefused."""
        where = f"{host}:{port} on {master.name}"
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        client = await master.client("-W", address, "--", master.name)
        ended = asyncio.ensure_future(client.wait_closed())
        try:
            await asyncio.wait({ended}, timeout=OPEN_TIMEOUT / 4)
        finally:
            ended.cancel()
        made = cls(master, client, where)
        if client.returncode is not None:
            raise await made._refusal()
        return made

    async def read(self, size: int = 65536) -> bytes:
        """Return what is there, at most `size` bytes; b"" at the end."""
        chunk = await self._client.stdout.read(size)
        if chunk:
            return chunk
        await self._client.wait_closed()
        if self._master.is_lost:
            raise self._master.loss()
        if self._client.returncode:
            raise await self._refusal()
        return b""

    async def write(self, data: bytes) -> None:
        """Send `data`."""
        try:
            self._client.stdin.write(data)
            await self._client.stdin.drain()
        except ConnectionError as error:
            raise ChannelRefused("The other side closed the connection.") from error

    async def close(self) -> None:
        """Close the connection; never raises."""
        self._client.close()

    async def _refusal(self) -> ChannelRefused:
        said = printable((await self._client.stderr.read()).decode("utf-8", "replace"))
        self._client.close()
        reason: Reason = next((reason for words, reason in _REASONS if words in said.lower()), "other")
        return ChannelRefused(f"{self._where} cannot be connected to: {said or 'ssh ended'}.", reason=reason)
