"""What a stop would touch, and what is near it and stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bringup.core.events import Process, Server
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.family import adopted, descendants, launcher_group, own_session, proven
from bringup.hosts.control.gpu_memory import gpu_holders
from bringup.hosts.control.processes import Identity


@dataclass(frozen=True, slots=True)
class Survey:
    """What a stop would touch, and what is near it and stays."""

    server: Server
    members: tuple[Process, ...]
    """Proven to be the server's: its tree, what was recorded as such, what was cut off from it."""
    bystanders: tuple[Process, ...] = ()
    """Near it without being the server's: a script, a tee or a benchmark in the launcher's process group, or a child of
    the launcher that reads its output."""
    swept: tuple[Process, ...] = ()
    """Not the server's, but in its unit or container: the launcher's own stop command ends them too."""
    unasked: str = ""
    """Why nobody can tell what holds GPU memory, as the rest of a sentence; "" where nvidia-smi answered."""
    waits_for_gpus: bool = True
    """nvidia-smi answered: a stop waits until the driver has taken the memory back. Without GPUs there is none."""

    @property
    def apart(self) -> frozenset[Identity]:
        """The bystanders that are children of members."""
        ours = {each.pid for each in self.members}
        return frozenset((each.pid, each.start) for each in self.bystanders if each.ppid in ours)

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
    members, bystanders, swept = await look(host, server, known, is_engine, unit, await _readers(host, server))
    gpus = await gpu_holders(host)
    return Survey(server, members, bystanders, swept, gpus.unasked, gpus.answered)


async def look(
    host: Host,
    server: Server,
    known: Sequence[Process],
    is_engine: Callable[[str], bool],
    unit: frozenset[int] = frozenset(),
    apart: frozenset[Identity] = frozenset(),
) -> tuple[tuple[Process, ...], tuple[Process, ...], tuple[Process, ...]]:
    """Return members, bystanders, and what else is in the `unit`; what is `apart` is a bystander with all below it."""
    rows = {pid: row for pid, row in (await processes.list_processes(host)).items() if not row.ended}
    ours = proven(rows, server, {(each.pid, each.start) for each in known}, apart)
    session = own_session(rows, server, known)
    group = launcher_group(rows, server, known)
    near = {pid for pid, row in rows.items() if group is not None and group > 1 and row.pgid == group}
    near |= descendants(rows, {pid for pid, row in rows.items() if (pid, row.start) in apart})
    inside = unit & rows.keys()
    seen = await processes.describe(host, (rows[pid] for pid in ours | near | inside | descendants(rows, session)))
    ours |= adopted(seen, session, is_engine, rows)
    parts = (ours, near - ours, inside - ours)
    members, bystanders, swept = (tuple(each for each in seen if each.pid in part) for part in parts)
    return members, bystanders, swept


async def _readers(host: Host, server: Server) -> frozenset[Identity]:
    """Return the children of the launcher that read what it writes."""
    done = await host.run(processes.script("readers.sh", server.pid), limit=1 << 16)
    found = (line.split() for line in done.stdout.decode("ascii", "replace").splitlines())
    return frozenset(
        (int(words[0]), int(words[1])) for words in found if len(words) == 2 and all(map(str.isdigit, words))
    )


async def _unit(host: Host, server: Server) -> frozenset[int]:
    """Return the PIDs of all that the launcher's own stop command ends."""
    if server.launcher.scope != "cgroup" or not server.launcher.stop:
        return frozenset()
    done = await host.run(processes.script("same_cgroup.sh", server.pid), limit=1 << 18)
    return frozenset(int(word) for word in done.stdout.split() if word.isdigit())
