"""The port of a command that is to be launched: held by somebody else, it is refused before the server is stopped."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import pairwise

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.words import names
from bringup.hosts.base import Host
from bringup.hosts.control.processes import script
from bringup.hosts.control.serving import read_address
from bringup.hosts.discover import DEFAULT_PORTS

_MOST = 3


@dataclass(frozen=True, slots=True)
class _Holder:
    address: str
    """"" for every one."""
    user: str
    pid: int
    """0 where it is not seen."""
    name: str

    @property
    def words(self) -> str:
        """Who it is, for a sentence."""
        return f"{self.name} (PID {self.pid}, {self.user})" if self.pid else f"a process of {self.user}"


def port_in(words: Sequence[str]) -> int | None:
    """Return the port that a command line sets; None where it sets none."""
    given = _option("--port", words)
    return int(given) if given.isdecimal() and 0 < int(given) < 65536 else None


def port_of_shell(command: str) -> int | None:
    """Return the port that a shell command sets; None where it sets none, or cannot be read."""
    return port_in(_words_of(command))


async def why_taken(
    host: Host, server: Server, ours: Collection[int], *, argv: Sequence[str] | None = None, command: str = ""
) -> str:
    """Return in a sentence who holds the port that an edited command line, or a configured shell command, will take.

    "" where nobody does but `ours`, the PIDs of the server that is stopped, or where it is that server's own port.
    """
    words = argv if argv is not None else _words_of(command)
    port = port_in(words)
    if port is None and argv is not None:
        port = DEFAULT_PORTS.get(server.engine)
    if port is None or port == server.port:
        return ""
    there = _option("--host", words)
    held = [each for each in await _holders(host, port) if each.pid not in ours and _collide(there, each.address)]
    if not held:
        return ""
    who = names(list(dict.fromkeys(each.words for each in held)), _MOST)
    which = "the edited command" if argv is not None else "the configured command"
    return f"Port {port}, which {which} takes, is held on {host.name} by {who}."


async def _holders(host: Host, port: int) -> list[_Holder]:
    done = await host.run(script("port_holders.sh", port), limit=1 << 16)
    found = []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        address, user, pid, name = (*line.split(" ", 3), "", "", "", "")[:4]
        if pid.isdecimal():
            # That of every address is all zeros, as one of IPv4 in IPv6, too.
            where = read_address(address) if address.strip("0") not in ("", "FFFF") else ""
            found.append(_Holder(where, clean_text(user), int(pid), clean_text(name)))
    return found


def _collide(one: str, other: str) -> bool:
    """Say whether two sockets of one port collide: all do but those of two different addresses."""
    try:
        asked = ip_address(one)
    except ValueError:
        return True
    return asked.is_unspecified or other in ("", str(asked))


def _option(name: str, words: Sequence[str]) -> str:
    """Return the value of an option, the last one where it is given more than once; "" without it."""
    value = ""
    for word, following in pairwise((*words, "")):
        option, equals, given = word.partition("=")
        if option == name:
            value = given if equals else following
    return value


def _words_of(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return ()
