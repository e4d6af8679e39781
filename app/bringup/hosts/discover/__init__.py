"""Finds the servers of a host by what their processes look like and what they hold open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.words import count, names
from bringup.hosts.base import Host
from bringup.hosts.discover.candidates import Candidate, Engine, Family
from bringup.hosts.discover.launched import (
    ask_launchers,
    plain_launcher,
    supervised,
    surroundings,
    with_bounds,
    with_starters,
)
from bringup.hosts.discover.launchers import load_kinds
from bringup.hosts.discover.log_targets import Descriptor, Surroundings, find_targets
from bringup.hosts.discover.log_targets import log_target_for as log_target_for
from bringup.hosts.discover.roles import load_roles
from bringup.hosts.discover.rows import Listing, Place, read_listing, read_places
from bringup.hosts.shipped import grep_pattern, with_arguments

LIMIT = 8 << 20
TIMEOUT = 20.0
MOST_LAUNCHERS = 32
_MOST_PIDS = 8
DEFAULT_PORTS = {"sglang": 30000, "vllm": 8000}
"""Where an engine listens unless it is told otherwise (its ServerArgs or its CLI)."""
_SERVER_FIELDS = ("port", "model", "draft_model", "algorithm", "tp", "pp", "dp", "nnodes", "node_rank")


@dataclass(frozen=True, slots=True)
class Orphan:
    """A process of a server whose launcher has ended; it may hold GPU memory."""

    pid: int
    start: int
    engine: str
    title: str
    user: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What one look at a host found."""

    servers: tuple[Server, ...]
    """The login's own before other people's, the newest first."""
    seeks: str
    """What was looked for, as a sentence."""
    orphans: tuple[Orphan, ...] = ()
    user: str = ""
    """The user we are there."""


async def discover(
    host: Host,
    engines: Sequence[Engine],
    *,
    pid: int | None = None,
    port: int | None = None,
    log: str | None = None,
    within: int | None = None,
    main: bool = False,
) -> Discovery:
    """Look for servers once.

    `pid` (of the launcher or of one of its processes; with `main` of what may stand above it, as the main process of a
    unit) and `port` leave only what fits, `log` prefers what writes to that file, `within` leaves only a process and
    what descends from it. A process that was named and is not recognised is a server without an engine.
    """
    words = {word for engine in engines for word in (engine.name, engine.package) if word}
    done = await host.run(
        with_arguments("discover/discover.sh", str(pid or ""), *(grep_pattern(word) for word in sorted(words))),
        timeout=TIMEOUT,
        limit=LIMIT,
    )
    listing = read_listing(done.stdout)
    family = Family(listing.processes, engines, load_roles())
    found = _choose(family, listing, pid, main=main)
    found = [(process, engine) for process, engine in found if family.is_within(process.pid, within)]
    servers = [_make(host_process, engines, engine, listing) for host_process, engine in found]
    servers = [server for server in servers if port is None or server.port == port]
    servers = await _complete(host, servers[:MOST_LAUNCHERS], family, listing, within)
    writing = [server for server in servers if log is not None and any(log == known.path for known in server.logs)]
    orphans = [
        Orphan(process.pid, process.start, engine, process.title, process.user)
        for process, engine in family.orphans([process for process, _ in family.launchers()])
        if family.is_within(process.pid, within)
    ]
    chosen = tuple(sorted(writing or servers, key=lambda known: (known.user != listing.user, -known.start, -known.pid)))
    return Discovery(chosen, _seeks(engines, listing, orphans, pid, port, within), tuple(orphans), listing.user)


def _choose(family: Family, listing: Listing, pid: int | None, *, main: bool) -> list[tuple[Candidate, str]]:
    found = family.launchers()
    if pid is None:
        return found
    line = {pid, *(process.pid for process in family.above(pid))}
    named = [(process, engine) for process, engine in found if process.pid in line]
    if not named and main:
        named = [(process, engine) for process, engine in found if family.is_within(process.pid, pid)]
    process = listing.processes.get(pid)
    if named or process is None or _is_nobodys(process, listing):
        return named
    return [(process, family.engine_in(pid))]


def _is_nobodys(process: Candidate, listing: Listing) -> bool:
    """Say whether a process is no server of anybody: it has ended, is the kernel's, or we stand below it ourselves."""
    return process.state in ("Z", "X") or not process.title or process.pid in listing.asking


def _make(process: Candidate, engines: Sequence[Engine], name: str, listing: Listing) -> Server:
    engine = next((known for known in engines if known.name == name), None)
    told: dict[str, Any] = engine.read_command(process.argv) if engine is not None else {}
    told = {field: value for field, value in told.items() if field in _SERVER_FIELDS}
    told.setdefault("port", DEFAULT_PORTS.get(name))
    return Server(
        pid=process.pid,
        start=process.start,
        engine=name,
        argv=process.argv,
        user=process.user,
        started_at=listing.now - listing.uptime + process.start / listing.ticks,
        **told,
    )


async def _complete(
    host: Host, servers: list[Server], family: Family, listing: Listing, within: int | None
) -> list[Server]:
    """Add what only the processes' own folders tell: where they run and write, and what launched them."""
    if not servers:
        return []
    kinds = load_kinds()
    above = {server.pid: family.supervisor(server.pid, within) for server in servers}
    asked = (f"{pid}:{parent.pid}" if parent is not None else str(pid) for pid, parent in above.items())
    script = with_arguments("discover/launcher.sh", "|".join(kinds.names), *asked)
    done = await host.run(script, timeout=TIMEOUT, limit=LIMIT)
    places = read_places(done.stdout)
    around = [
        surroundings(listing.processes[server.pid], places.get(server.pid, Place()), family, within, listing.user)
        for server in servers
    ]
    launchers, told = await ask_launchers(host, kinds, around)
    completed = []
    for server in servers:
        place, parent = places.get(server.pid, Place()), above[server.pid]
        launcher = with_starters(
            launchers.get(server.pid) or plain_launcher(listing.processes[server.pid], place, parent, kinds),
            family.starters(server.pid, within),
            supervised(parent, place, kinds) if parent is not None else None,
        )
        launcher = with_bounds(launcher, family.bounds(server.pid, within))
        title = clean_text(parent.title) if parent is not None else ""
        beside = Surroundings(
            *(server.pid, server.user, listing.user, place.cgroup, family.terminal_program(server.pid)),
            launched=launcher.words,
            told=told.get(server.pid, {}),
        )
        targets = find_targets(place.descriptors or {1: Descriptor()}, beside)
        completed.append(replace(server, cwd=place.cwd, logs=targets, parent=title, launcher=launcher))
    return completed


def _seeks(
    engines: Sequence[Engine],
    listing: Listing,
    orphans: Sequence[Orphan],
    pid: int | None,
    port: int | None,
    within: int | None,
) -> str:
    names = " or ".join(engine.title for engine in engines if engine.titles.launches) or "any engine"
    where = "".join(
        (
            f" with PID {pid}" if pid is not None else "",
            f" on port {port}" if port is not None else "",
            f" below process {within}" if within is not None else "",
        )
    )
    told = [f"Looking for a launcher of {names}{where}."]
    if pid in listing.asking:
        told.append(f"PID {pid} is none: the shell that looks would end together with it.")
    if orphans:
        told.append(left_behind(orphans))
    if listing.hidden:
        told.append(f"This host hides other users' processes from {listing.user}: only its own can be found.")
    return " ".join(told)


def left_behind(orphans: Sequence[Orphan]) -> str:
    """Return in a sentence that processes of an earlier server are still there."""
    lives = "lives on without its" if len(orphans) == 1 else "live on without their"
    pids = names([str(orphan.pid) for orphan in orphans], _MOST_PIDS)
    return f"{count(len(orphans), 'process', 'processes')} of an earlier server {lives} launcher (PID {pids})."
