"""Whether a server that was stopped has been started again by what stands above it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

from bringup.core.events import Launcher, Process, Server
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.processes import Identity, Row
from bringup.hosts.discover.roles import SHELLS
from bringup.hosts.shipped import read_script


async def running(host: Host) -> frozenset[Identity]:
    """Return everything that runs now: what is not among it later is new."""
    rows = await processes.list_processes(host)
    return frozenset((row.pid, row.start) for row in rows.values())


def may_return(launcher: Launcher) -> bool:
    """Say whether anything is known that starts the server again, or may do so."""
    return launcher.respawns is not False or bool(launcher.above)


def keeps_down(launcher: Launcher, way: str) -> bool:
    """Say whether a stop that goes this way keeps the server down: the launcher's own does.

    A configured one does nothing about a script or program that was seen above the server.
    """
    return way == "OWN" and launcher.parent is None


async def find_again(host: Host, server: Server, before: Collection[Identity]) -> tuple[Process | None, bool]:
    """Return a new process with the server's command line, and whether one may still come.

    Only what did not run `before` counts (a second replica has the same command line), and where it is known what
    stands above the server, only what is below that.
    """
    rows = {pid: row for pid, row in (await processes.list_processes(host)).items() if not row.ended}
    launcher = server.launcher
    known = bool(launcher.above) or launcher.parent is not None
    roots = {each.pid for each in await _living(host, rows, launcher)}
    fresh = [row for row in rows.values() if (row.pid, row.start) not in before]
    title = processes.title_of(server.argv)
    for process in await processes.describe(host, fresh):
        if process.title == title and (not known or _below(rows, process.pid, roots)):
            return process, True
    return None, bool(roots) if known else launcher.respawns is not False


async def starters(host: Host, launcher: Launcher) -> tuple[Process, ...]:
    """Return what stood above the server and still runs, nearest first."""
    if not launcher.above:
        return ()
    rows = await processes.list_processes(host, sorted(pid for pid, _ in launcher.above))
    living = await _living(host, {pid: row for pid, row in rows.items() if not row.ended}, launcher)
    return tuple(sorted(living, key=lambda each: launcher.above.index((each.pid, each.start))))


async def _living(host: Host, rows: Mapping[int, Row], launcher: Launcher) -> tuple[Process, ...]:
    """Return what may start the server again and still runs; a shell at its prompt does nothing."""
    found = await processes.describe(host, (rows[pid] for pid in _starters(rows, launcher)))
    idle = [each for each in found if each.comm in SHELLS and all(word[0] in "-+" for word in each.title.split()[1:])]
    if not idle:
        return found
    asked = processes.script("prompts.sh", *(each.pid for each in idle))
    done = await host.run(f"{read_script('control/prompt.sh')}\n{asked}", limit=4096)
    prompts = {int(word) for word in done.stdout.split() if word.isdigit()}
    return tuple(each for each in found if each not in idle or each.pid not in prompts)


def _starters(rows: Mapping[int, Row], launcher: Launcher) -> set[int]:
    """Return the PIDs of what may start the server again and still runs."""
    if not launcher.above:
        return {launcher.parent} & rows.keys() if launcher.parent is not None else set()
    return {pid for pid, start in launcher.above if pid in rows and rows[pid].start == start}


def _below(rows: Mapping[int, Row], pid: int, roots: Set[int]) -> bool:
    for _ in range(64):
        row = rows.get(pid)
        if row is None or pid in roots:
            return pid in roots
        pid = row.ppid
    return False
