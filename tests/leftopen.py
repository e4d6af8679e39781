"""The newest of the actions that nobody ended on a host, as tests look for it."""

from __future__ import annotations

from bringup.hosts.base import Host
from bringup.hosts.control import Unfinished, all_unfinished
from bringup.hosts.control.journal import LEASE


async def unfinished(host: Host, *, token: str = "", lease: int = LEASE) -> Unfinished | None:
    """Return it; `token` tells which ones this console began itself."""
    found = await all_unfinished(host, token=token, lease=lease)
    return found[0] if found else None
