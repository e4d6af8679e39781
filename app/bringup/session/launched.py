"""A server that was launched from here, as it is known before anybody has looked for it."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.events import LogTarget, Server
from bringup.hosts.control import Started
from bringup.session.choice import identity

_TICKS = 100.0
"""Of the kernel's clock in a second, as programs see it: USER_HZ, times(2); the same on all machines with GPUs."""


def stand_in(started: Started, known: Server | None, old: tuple[int, int] | None, now: float) -> Server:
    """Return what was launched by now; where the `old` server is `known`, it is like that one in all else."""
    began = now
    if known is not None and known.started_at:
        began = min(now, known.started_at + (started.start - known.start) / _TICKS)
    logs = tuple(dict.fromkeys(LogTarget(begin.path, "file") for begin in started.begins))
    like = known if known is not None and identity(known) == old else Server(pid=0, start=0, engine="", argv=())
    return replace(like, pid=started.pid, start=started.start, started_at=began, logs=logs or like.logs)


def with_known_logs(found: Server, known: Server | None) -> Server:
    """Return a server with the logs that are known of it where no look shows any: one that ends has no open files."""
    if known is None or identity(known) != identity(found) or any(target.kind != "denied" for target in found.logs):
        return found
    return replace(found, logs=known.logs)
