"""Who has ended a server from another console of the same login: told also after all of that is over."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from bringup.core.errors import ChannelRefused
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control.journal import read_facts, script

_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class LastEnd:
    """A stop or restart that is over."""

    action: str
    """"stop" or "restart"."""
    who: str
    began: int
    """Seconds since it was begun."""


async def last_end(host: Host, server: Server) -> LastEnd | None:
    """Return who has stopped or restarted a server; None where nobody has written that down on the host."""
    with contextlib.suppress(ChannelRefused):
        done = await host.run(script("last_end.sh", server.pid, server.start), timeout=_TIMEOUT, limit=1 << 12)
        told = read_facts(done.stdout.decode("utf-8", "replace"))
        if told.get("action") in ("stop", "restart") and told.get("began", "").isdigit():
            return LastEnd(told["action"], told.get("who", ""), int(told["began"]))
    return None
