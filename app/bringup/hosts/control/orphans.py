"""Workers of an engine whose launcher is gone: found with age and memory, and cleared where that harms nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bringup.core.events import Process, Server
from bringup.hosts import readiness
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.family import descendants
from bringup.hosts.control.gpu_memory import Holders, gpu_holders
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.processes import Identity, Row, Signal, script
from bringup.hosts.control.steps import Report, Step, count, still_run
from bringup.hosts.control.stopped import Stopped
from bringup.hosts.control.stopping import GPU_WAIT, KILL_WAIT, STEP
from bringup.hosts.discover import discover
from bringup.hosts.discover.candidates import Engine

GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL: there is nobody left whom an orphan could still serve."""
MOST_PORTS = 8
ASK_TIMEOUT = 2.0
_CHILD = "child"
"""The part of a process that multiprocessing started and that has no title yet."""
_REAPERS = frozenset(
    {"systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "containerd-shim"}
)
"""What takes over the children of a process that has ended (PR_SET_CHILD_SUBREAPER, prctl(2))."""
Memory = Literal["held", "none", "unknown", "no GPU"]
"""Whether nvidia-smi says that a process holds GPU memory; "unknown": it was asked and did not say."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A worker that lives on without its launcher."""

    process: Process
    engine: str
    age: float = 0.0
    """Seconds since it was started."""
    gpu_mib: int | None = None
    """GPU memory that it holds; None where it holds none or nobody can tell how much."""
    memory: Memory = "no GPU"
    unasked: str = ""
    """Why it is not known whether it holds any, as the rest of a sentence."""
    rss_kb: int = 0
    why_not: str = ""
    """Why it is not cleared, as a sentence; "" where it may be."""

    @property
    def identity(self) -> Identity:
        """PID and start time."""
        return self.process.pid, self.process.start

    @property
    def is_leftover(self) -> bool:
        """It holds nothing of a GPU although this host has some: it disturbs no start."""
        return self.memory == "none"


async def orphans(host: Host, engines: Sequence[Engine], *, within: int | None = None) -> tuple[Orphan, ...]:
    """Look for orphans, those that hold most GPU memory first, leftovers last.

    `within` leaves a process and what descends from it.
    """
    found = await discover(host, engines, within=within)
    rows = {pid: row for pid, row in (await processes.list_processes(host)).items() if not row.ended}
    gpus = await gpu_holders(host)
    named = {each.pid: each.engine for each in found.orphans}
    suspects = [rows[pid] for pid in {*named, *gpus.held} & rows.keys()]
    seen = [each for each in await processes.describe(host, suspects) if not _is_led(each, rows, found.servers)]
    adopted = {pid for pid, row in rows.items() if row.ppid == 1} | await _below_reapers(host, seen, rows)
    chosen = {}
    for process in seen:
        engine = named.get(process.pid) or _child_of(process, engines)
        if process.pid in named or (engine and process.pid in adopted and process.pid in gpus.held):
            chosen[process.pid] = _orphan(process, engine, gpus)
    aged = await _with_age(host, chosen)
    init = await _python_as_init(host)
    judged = [await _judge(host, each, found.user, found.servers, rows, init) for each in aged]
    return tuple(sorted(judged, key=lambda each: (each.is_leftover, -(each.gpu_mib or 0), each.process.pid)))


async def clear(
    host: Host,
    chosen: Sequence[Orphan],
    engines: Sequence[Engine],
    report: Report,
    *,
    within: int | None = None,
    pace: Pace | None = None,
) -> Stopped:
    """End the chosen orphans and what descends from them; only those that may still be cleared after another look.

    Each is signalled by PID and start time. What may not be cleared any more is reported and left alone.
    """
    pace = pace or Pace()
    begun = pace.clock()
    wanted = {each.identity for each in chosen}
    now = [each for each in await orphans(host, engines, within=within) if each.identity in wanted]
    for each in now:
        if each.why_not:
            report(Step(f"PID {each.process.pid} is left alone: {each.why_not}"))
    rows = await processes.list_processes(host)
    roots = {each.process.pid for each in now if not each.why_not and _runs(rows, each.identity)}
    family = await processes.describe(host, (rows[pid] for pid in descendants(rows, roots)))
    killed: tuple[Process, ...] = ()
    for name, wait in (("TERM", GRACE if pace.drain is None else pace.drain), ("KILL", KILL_WAIT)):
        left = await _left(host, family)
        killed = left if name == "KILL" else killed
        await _end(host, left, "KILL" if name == "KILL" else "TERM", wait, report, pace)
    left = await _left(host, family)
    gpus = await _memory(host, family, report, pace)
    ended = tuple(each for each in family if each not in left)
    held = tuple(sorted(gpus.held.keys() & {each.pid for each in family}))
    hard = tuple(each for each in killed if each in ended)
    return Stopped(ended, hard, left, held, gpus.unasked, took=pace.clock() - begun)


async def _end(host: Host, left: Sequence[Process], name: Signal, wait: float, report: Report, pace: Pace) -> None:
    if not left:
        return
    report(Step(f"SIG{name} goes to {count(left)}.", wait))
    await processes.signal(host, left, name)
    begun = pace.clock()
    while (passed := pace.clock() - begun) < wait and (running := await _left(host, left)):
        report(Step(f"{still_run(running)}.", wait - passed))
        await pace.sleep(STEP)


async def _memory(host: Host, family: Sequence[Process], report: Report, pace: Pace) -> Holders:
    ours, begun = {each.pid for each in family}, pace.clock()
    while held := ours & (gpus := await gpu_holders(host)).held.keys():
        waited = pace.clock() - begun
        if waited >= GPU_WAIT:
            break
        report(Step(f"The GPU driver still holds the memory of {len(held)} ended processes.", GPU_WAIT - waited))
        await pace.sleep(STEP)
    return gpus


async def _left(host: Host, wanted: Collection[Process]) -> tuple[Process, ...]:
    if not wanted:
        return ()
    rows = await processes.list_processes(host, sorted(each.pid for each in wanted))
    return tuple(each for each in wanted if _runs(rows, (each.pid, each.start)))


def _runs(rows: Mapping[int, Row], identity: Identity) -> bool:
    row = rows.get(identity[0])
    return row is not None and row.start == identity[1] and not row.ended


def _orphan(process: Process, engine: str, gpus: Holders) -> Orphan:
    held = process.pid in gpus.held
    memory: Memory = "held" if held else "none" if gpus.answered else "unknown" if gpus.unasked else "no GPU"
    return Orphan(process, engine, gpu_mib=gpus.held.get(process.pid), memory=memory, unasked=gpus.unasked)


def _is_led(process: Process, rows: Mapping[int, Row], servers: Iterable[Server]) -> bool:
    """It descends from a launcher that lives."""
    launchers, pid = {server.pid for server in servers}, process.pid
    for _ in range(64):
        row = rows.get(pid)
        if row is None or row.ppid in launchers:
            return row is not None
        pid = row.ppid
    return False


def _child_of(process: Process, engines: Sequence[Engine]) -> str:
    for engine in engines:
        known = engine.titles.classify(process.title)
        if known is not None and known[0] == _CHILD:
            return engine.name
    return ""


async def _below_reapers(host: Host, seen: Sequence[Process], rows: Mapping[int, Row]) -> set[int]:
    parents = {each.ppid for each in seen} & rows.keys()
    reapers = {
        each.pid for each in await processes.describe(host, (rows[pid] for pid in parents)) if each.comm in _REAPERS
    }
    return {each.pid for each in seen if each.ppid in reapers}


async def _with_age(host: Host, chosen: Mapping[int, Orphan]) -> list[Orphan]:
    if not chosen:
        return []
    done = await host.run(script("ages.sh", *sorted(chosen)), limit=1 << 18)
    head, *lines = done.stdout.decode("ascii", "replace").splitlines() or [""]
    ticks, _, up = head.partition(" ")
    told = {}
    for line in lines:
        words = line.split()
        if len(words) >= 2 and all(word.isdigit() for word in words):
            told[int(words[0]), int(words[1])] = int(words[2]) if len(words) > 2 else 0
    per_second, uptime = int(ticks) if ticks.isdigit() else 100, float(up or 0)
    return [
        replace(each, age=max(0.0, uptime - each.process.start / per_second), rss_kb=told[each.identity])
        for each in chosen.values()
        if each.identity in told
    ]


async def _python_as_init(host: Host) -> bool:
    """Tell whether PID 1 is a Python program, as in a container: workers below it can be those of a live engine."""
    done = await host.run("cat /proc/1/comm; readlink /proc/1/exe", limit=4096)
    names = (line.rpartition("/")[2] for line in done.stdout.decode("utf-8", "replace").splitlines())
    return any(name.startswith("python") for name in names)


async def _judge(
    host: Host, orphan: Orphan, user: str, servers: Iterable[Server], rows: Mapping[int, Row], init: bool
) -> Orphan:
    """Add why an orphan must not be cleared; `init` says that PID 1 may be its launcher."""
    process = orphan.process
    if init and rows[process.pid].ppid == 1:
        return replace(orphan, why_not="Its parent, PID 1, is a Python program and may have started it.")
    if process.user != user:
        return replace(orphan, why_not=f"It belongs to {process.user}, and you are {user} there.")
    for server in servers:
        if server.pid in (process.pgid, process.sid):
            return replace(orphan, why_not=f"It belongs to the server with PID {server.pid}, which runs.")
    port = await _answers(host, sorted(descendants(rows, {process.pid})))
    if port is not None:
        return replace(orphan, why_not=f"It answers over HTTP on port {port}: it serves somebody.")
    return orphan


async def _answers(host: Host, pids: Sequence[int]) -> int | None:
    """Return a port on which one of the processes answers over HTTP, whatever the answer is."""
    done = await host.run(script("listening.sh", *pids), limit=1 << 16)
    ports = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        address, _, port = line.partition(" ")[2].partition(":")
        if len(port) == 4:
            ports[int(port, 16)] = _dotted(address)
    for port_number, address in sorted(ports.items())[:MOST_PORTS]:
        answer = await readiness.probe(host, port_number, "/health", timeout=ASK_TIMEOUT, address=address)
        if answer.status is not None:
            return port_number
    return None


def _dotted(address: str) -> str:
    """Return an address of /proc/net/tcp as it is written; 127.0.0.1 for any address and for IPv6 ones."""
    if len(address) != 8 or address == "00000000":
        return "127.0.0.1"
    return ".".join(str(int(address[at : at + 2], 16)) for at in (6, 4, 2, 0))
