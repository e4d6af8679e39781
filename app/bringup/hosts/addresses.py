"""Whether two names of hosts lead to the same machine, as far as that is known without a connection to it."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass

from bringup.core.errors import UsageError
from bringup.hosts.naming import plain_target

LOOKUP = 2.0
"""Seconds that the name service is given: a name that it does not know by then is compared as it is written."""
_SSH = 22


@dataclass(frozen=True, slots=True)
class Address:
    """Where a name leads: whoever logs in, it is the same machine."""

    names: frozenset[str]
    """The names and numbers under which it is known, in small letters."""
    port: int = _SSH
    """Of its sshd: behind one number there may be many machines."""
    through: tuple[str, ...] = ()
    """What leads there; names and numbers of the machine itself mean another one at the other end of each."""

    def is_same(self, other: Address) -> bool:
        """Say whether both lead to the same machine."""
        if self.port != other.port:
            return False
        shared = self.names & other.names
        return bool(shared) and (self.through == other.through or not all(_is_loopback(name) for name in shared))


async def address_of(name: str) -> Address:
    """Return where `ssh NAME` leads, or where this machine is for ""; what cannot be resolved is known by its name."""
    if not name:
        own = socket.gethostname()
        return Address(frozenset({"localhost", own.lower(), *await _numbers("localhost"), *await _numbers(own)}))
    # What reads the ssh configuration loads asyncssh, which a configuration without read-only targets never needs here.
    from bringup.hosts.ssh.config import SshOptions, read_hop

    try:
        hop = await read_hop(plain_target(name), SshOptions())
    except UsageError:
        return Address(frozenset({name.removeprefix("ssh:").rpartition("@")[2].lower()}))
    host = hop.host.lower().rstrip(".")
    through = hop.jumps or ((hop.proxy_command,) if hop.proxy_command else ())
    # The far end of a way has a name service of its own.
    return Address(frozenset({host, *(() if through else await _numbers(host))}), hop.port, through)


async def _numbers(host: str) -> tuple[str, ...]:
    try:
        async with asyncio.timeout(LOOKUP):
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        return ()
    return tuple(str(entry[4][0]).partition("%")[0].lower() for entry in found)


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"
