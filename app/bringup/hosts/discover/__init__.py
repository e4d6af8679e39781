"""Finds the servers of a host by what their processes look like and what they hold open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.hosts.base import Host
from bringup.hosts.discover.candidates import Candidate, Engine, Family
from bringup.hosts.discover.launched import ask_launchers, plain_launcher, supervised, surroundings, with_starters
from bringup.hosts.discover.launchers import load_kinds
from bringup.hosts.discover.log_targets import Descriptor, Surroundings, find_targets
from bringup.hosts.discover.log_targets import log_target_for as log_target_for
from bringup.hosts.discover.rows import Listing, Place, read_listing, read_places
from bringup.hosts.shipped import grep_pattern, with_arguments

LIMIT = 8 << 20
TIMEOUT = 20.0
MOST_LAUNCHERS = 32
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
) -> Discovery:
    """Look for servers once.

    `pid` (of the launcher or of one of its processes) and `port` leave only what fits, `log` prefers what writes to
    that file, `within` leaves only a process and what descends from it.
    """
    words = {word for engine in engines for word in (engine.name, engine.package) if word}
    done = await host.run(
        with_arguments("discover/discover.sh", str(pid or ""), *(grep_pattern(word) for word in sorted(words))),
        timeout=TIMEOUT,
        limit=LIMIT,
    )
    listing = read_listing(done.stdout)
    family = Family(listing.processes, engines)
    found = _choose(family, listing, pid, within)
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


def _choose(family: Family, listing: Listing, pid: int | None, within: int | None) -> list[tuple[Candidate, str]]:
    found = family.launchers()
    if pid is not None:
        line = {pid, *(process.pid for process in family.above(pid))}
        named = [(process, engine) for process, engine in found if process.pid in line]
        process = (listing.processes).get(pid)
        found = named or ([(process, family.engine_below(pid))] if process and process.state not in ("Z", "X") else [])
    return [(process, engine) for process, engine in found if family.is_within(process.pid, within)]


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
        surroundings(listing.processes[server.pid], places.get(server.pid, Place()), family, within)
        for server in servers
    ]
    founds = [found for found in map(kinds.recognise, around) if found is not None]
    launchers = await ask_launchers(host, kinds, founds)
    completed = []
    for server in servers:
        place, parent = places.get(server.pid, Place()), above[server.pid]
        launcher = with_starters(
            launchers.get(server.pid) or plain_launcher(listing.processes[server.pid], place, parent, kinds),
            family.starters(server.pid, within),
            supervised(parent, place, kinds) if parent is not None else None,
        )
        title = clean_text(parent.title) if parent is not None else ""
        completed.append(replace(_place(server, place, family, listing), parent=title, launcher=launcher))
    return completed


def _place(server: Server, place: Place, family: Family, listing: Listing) -> Server:
    around = Surroundings(server.pid, server.user, listing.user, place.cgroup, family.terminal_program(server.pid))
    targets = find_targets(place.descriptors or {1: Descriptor()}, around)
    return replace(server, cwd=place.cwd, logs=targets)


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
    if orphans:
        pids = ", ".join(str(orphan.pid) for orphan in orphans[:8])
        told.append(f"{len(orphans)} processes of an earlier server live on without their launcher (PID {pids}).")
    if listing.hidden:
        told.append(f"This host hides other users' processes from {listing.user}: only its own can be found.")
    return " ".join(told)
