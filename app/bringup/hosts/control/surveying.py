"""What a stop would touch, and what is near it and stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bringup.core.events import Process, Server
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.family import adopted, descendants, launcher_group, own_session, proven
from bringup.hosts.control.gpu_memory import gpu_holders


@dataclass(frozen=True, slots=True)
class Survey:
    """What a stop would touch, and what is near it and stays."""

    server: Server
    members: tuple[Process, ...]
    """Proven to be the server's: its tree, what was recorded as such, what was cut off from it."""
    bystanders: tuple[Process, ...] = ()
    """In the launcher's process group without being the server's: a script, a tee, a benchmark."""
    gpu_holders: tuple[int, ...] = ()
    """PIDs among the members that hold memory of a GPU."""
    swept: tuple[Process, ...] = ()
    """Not the server's, but in its unit or container: the launcher's own stop command ends them too."""
    unasked: str = ""
    """Why nobody can tell what holds GPU memory, as the rest of a sentence; "" where nvidia-smi answered."""

    @property
    def launcher(self) -> Process | None:
        """The launcher; None when it has ended."""
        server = self.server
        return next((each for each in self.members if (each.pid, each.start) == (server.pid, server.start)), None)


def nobody(title: str) -> bool:
    """Take no title for an engine's."""
    return False


async def survey(
    host: Host, server: Server, known: Sequence[Process] = (), is_engine: Callable[[str], bool] = nobody
) -> Survey:
    """Look at the server's processes and their neighbours.

    `known` are processes recorded earlier as the server's: they stay its own when the launcher is gone. `is_engine`
    tells whether a title is that of one of the engine's workers: it proves those that nobody recorded, but only in a
    group or session that the launcher itself made.
    """
    unit = await _unit(host, server)
    members, bystanders, swept = await look(host, server, known, is_engine, unit)
    gpus = await gpu_holders(host)
    held = tuple(each.pid for each in members if each.pid in gpus.held)
    return Survey(server, members, bystanders, held, swept, gpus.unasked)


async def look(
    host: Host,
    server: Server,
    known: Sequence[Process],
    is_engine: Callable[[str], bool],
    unit: frozenset[int] = frozenset(),
) -> tuple[tuple[Process, ...], tuple[Process, ...], tuple[Process, ...]]:
    """Return members, bystanders, and what else is in the `unit`."""
    rows = {pid: row for pid, row in (await processes.list_processes(host)).items() if not row.ended}
    ours = proven(rows, server, {(each.pid, each.start) for each in known})
    session = own_session(rows, server)
    group = launcher_group(rows, server, known)
    near = {pid for pid, row in rows.items() if group is not None and group > 1 and row.pgid == group}
    inside = unit & rows.keys()
    seen = await processes.describe(host, (rows[pid] for pid in ours | near | inside | descendants(rows, session)))
    ours |= adopted(seen, session, is_engine, rows)
    parts = (ours, near - ours, inside - ours)
    members, bystanders, swept = (tuple(each for each in seen if each.pid in part) for part in parts)
    return members, bystanders, swept


async def _unit(host: Host, server: Server) -> frozenset[int]:
    """Return the PIDs of all that the launcher's own stop command ends."""
    if server.launcher.scope != "cgroup" or not server.launcher.stop:
        return frozenset()
    done = await host.run(processes.script("same_cgroup.sh", server.pid), limit=1 << 18)
    return frozenset(int(word) for word in done.stdout.split() if word.isdigit())
