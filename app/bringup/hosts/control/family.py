"""Which processes are a server's: its launcher, what descends from it, and what can be proven to have done so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Set

from bringup.core.events import Process, Server
from bringup.hosts.control.processes import Identity, Row


def proven(
    rows: Mapping[int, Row], server: Server, known: Collection[Identity], apart: Collection[Identity] = ()
) -> set[int]:
    """Return the PIDs of the launcher, of the processes recorded earlier as its own, and of their descendants.

    What is `apart`, and all below it, is none of them although it descends from the launcher.
    """
    ours = {(server.pid, server.start), *known}
    found = descendants(rows, {pid for pid, row in rows.items() if (pid, row.start) in ours})
    return found - descendants(rows, {pid for pid, row in rows.items() if (pid, row.start) in apart})


def descendants(rows: Mapping[int, Row], roots: Set[int]) -> set[int]:
    """Return these PIDs and all below them."""
    found: set[int] = set()
    fresh = set(roots)
    while fresh:
        found |= fresh
        fresh = {pid for pid, row in rows.items() if row.ppid in fresh} - found
    return found


def launcher_group(rows: Mapping[int, Row], server: Server, known: Iterable[Process]) -> int | None:
    """Return the launcher's process group, also after its end where it was recorded; None where it is not known."""
    row = rows.get(server.pid)
    if row is not None and row.start == server.start:
        return row.pgid
    recorded = (each.pgid for each in known if (each.pid, each.start) == (server.pid, server.start))
    return next(recorded, None) or (server.pid if row is None else None)


def own_session(rows: Mapping[int, Row], server: Server, known: Iterable[Process]) -> set[int]:
    """Return the PIDs in the group or session that the launcher itself made, and began with it.

    Its number stays taken while anything is left in it, so what is there began under the launcher. A launcher that
    shares the group of a script or shell made none, and nothing can be concluded from that one; where it is recorded
    as such and has ended, its number may be somebody else's group by now.
    """
    row = rows.get(server.pid)
    if row is not None and row.start != server.start:
        return set()
    recorded = (each for each in known if (each.pid, each.start) == (server.pid, server.start) and each.pgid)
    launcher = row or next(recorded, None)
    group, session = (launcher.pgid, launcher.sid) if launcher is not None else (server.pid, server.pid)
    return {
        pid
        for pid, each in rows.items()
        if each.start >= server.start
        and pid != server.pid
        and (each.pgid == group == server.pid or each.sid == session == server.pid)
    }


def adopted(
    processes: Iterable[Process], session: Set[int], is_engine: Callable[[str], bool], rows: Mapping[int, Row]
) -> set[int]:
    """Return what was cut off from the launcher (its parent is another now) and is the engine's by its title."""
    found = {process.pid for process in processes if process.pid in session and is_engine(process.title)}
    return descendants(rows, found)
