"""Where in a log that is appended to a server begins that was launched from here."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from bringup.core.errors import ChannelRefused
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control.journal import script

_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Beginning:
    """How long the log was at the launch, and its last bytes then: they prove that a file is still that log."""

    offset: int
    before: bytes


async def find_beginning(host: Host, server: Server) -> Beginning | None:
    """Return where the log of a server begins; None where it was not launched from here, or onto an empty log."""
    with contextlib.suppress(ChannelRefused, ValueError):
        done = await host.run(script("beginning.sh", server.pid, server.start), timeout=_TIMEOUT, limit=1 << 10)
        size, before = done.stdout.decode("ascii", "replace").split()
        return Beginning(int(size), bytes.fromhex(before))
    return None


async def begins_in(host: Host, path: str, beginning: Beginning) -> bool:
    """Say whether a file has those bytes at that place: it was not truncated or replaced since the launch."""
    size = len(beginning.before)
    if not 0 < size <= beginning.offset:
        return False
    try:
        file = await host.open(path)
    except ChannelRefused:
        return False
    try:
        return (await file.look(beginning.offset - size, size)).data[:size] == beginning.before
    except ChannelRefused:
        return False
    finally:
        await file.close()
