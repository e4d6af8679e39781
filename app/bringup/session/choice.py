"""Which of the servers that discovery found is to be watched. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.events import Server


def choose(found: Sequence[Server], watched: Server | None, picked: tuple[int, int] | None) -> Server | None:
    """Choose from `found` (newest first): the operator's pick, else the one watched already, else a newer one.

    `picked` is the (pid, start) of the operator's pick. A server that is watched stays watched while it lives, so that
    somebody else's start does not take the screen; when it has ended, its end stays on the screen until a server that
    was started after it appears.
    """
    for wanted in (picked, identity(watched)):
        for server in found:
            if wanted is not None and identity(server) == wanted:
                return server
    newer = [server for server in found if watched is None or server.start > watched.start]
    return newer[0] if newer else None


def identity(server: Server | None) -> tuple[int, int] | None:
    """Return what proves a server to be the same one: PID and start time."""
    return None if server is None else (server.pid, server.start)
