"""The sentences for what may not be read or signalled."""

from __future__ import annotations

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host


async def denial(host: Host, path: str) -> ChannelRefused:
    """Return the refusal of a log, with the name of the user who may not read it; raises ConnectionLost."""
    user = (await host.run("id -un")).stdout.decode("utf-8", "replace").strip()
    return ChannelRefused(
        f"The log {path} on {host.name} may not be read by {user or 'this user'}.",
        "Log in as its owner, or let its owner give you the right to read it (chmod, setfacl).",
        reason="denied",
    )


def log_in(user: str) -> str:
    """Return the begin of a hint: as whom can be done what a user and root may; `user` is "" where nobody knows it."""
    return "Log in as root" if user == "root" else f"Log in as {user or 'its owner'} or root"
