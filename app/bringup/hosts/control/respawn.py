"""Whether a server that was stopped has been started again by what stands above it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bringup.core.events import Process, Server
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.processes import Identity


async def running(host: Host) -> frozenset[Identity]:
    """Return everything that runs now: what is not among it later is new."""
    rows = await processes.list_processes(host)
    return frozenset((row.pid, row.start) for row in rows.values())


async def find_again(host: Host, server: Server, before: Collection[Identity]) -> tuple[Process | None, bool]:
    """Return a new process with the server's command line, and whether one may still come.

    Only what did not run `before` counts (a second replica has the same command line), and where a supervisor is
    known, only what is below it.
    """
    rows = await processes.list_processes(host)
    parent = server.launcher.parent
    fresh = [row for row in rows.values() if not row.ended and (row.pid, row.start) not in before]
    title = processes.title_of(server.argv)
    for process in await processes.describe(host, fresh):
        if process.title == title and (parent is None or _below(rows, process.pid, parent)):
            return process, True
    return None, parent is None or (parent in rows and not rows[parent].ended)


def _below(rows: Mapping[int, processes.Row], pid: int, root: int) -> bool:
    for _ in range(64):
        row = rows.get(pid)
        if row is None or pid == root:
            return pid == root
        pid = row.ppid
    return False
