"""Workers of an engine whose launcher is gone: found with age and memory, and cleared where that harms nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bringup.core.events import Process, Server
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.family import descendants
from bringup.hosts.control.gpu_memory import Holders, gpu_holders, still_held
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.processes import Identity, Row, Signal, read_identity, script
from bringup.hosts.control.serving import why_serving
from bringup.hosts.control.steps import Report, Step, count, count_ended, still_run
from bringup.hosts.control.stopped import Stopped
from bringup.hosts.control.stopping import GPU_WAIT, KILL_WAIT, STEP
from bringup.hosts.discover import discover
from bringup.hosts.discover.candidates import Engine

GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL: there is nobody left whom an orphan could still serve."""
_CHILD = "child"
"""The part of a process that multiprocessing started and that has no title yet."""
_REAPERS = frozenset(
    {"systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "containerd-shim"}
    | {"sleep", "tail", "pause"}
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
    judged = [_judge(each, found.user, found.servers, rows, init) for each in aged]
    judged = await _without_serving(host, judged, rows)
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

    Each is signalled by PID and start time. What may not be cleared any more is left alone, and told of; as is what had
    ended before.
    """
    pace = pace or Pace()
    begun = pace.clock()
    roots, spared, before = await _looked_again(host, chosen, engines, within)
    for words in spared:
        report(Step(words))
    family, killed = await _end_all(host, roots, report, pace)
    left = await _left(host, family)
    took = pace.clock() - begun
    ended = tuple(each for each in family if each not in left)
    gpus = await _memory(host, {each.pid for each in ended}, report, pace)
    return Stopped(
        ended=ended,
        killed=tuple(each for each in killed if each in ended),
        remains=left,
        gpu_holders=tuple(sorted(gpus.held)),
        unasked=gpus.unasked,
        left_alone=tuple(words.rstrip(".") for words in spared),
        before=before,
        took=took,
    )


async def _looked_again(
    host: Host, chosen: Sequence[Orphan], engines: Sequence[Engine], within: int | None
) -> tuple[tuple[Process, ...], tuple[str, ...], tuple[int, ...]]:
    """Return which of the chosen orphans may still be cleared, sentences on those left alone, and PIDs of the ended."""
    now = {each.identity: each for each in await orphans(host, engines, within=within)}
    rows = await processes.list_processes(host)
    running = [each for each in chosen if _runs(rows, each.identity)]
    refused = {each.process.pid: _why_not(now.get(each.identity)) for each in running}
    roots = await processes.describe(host, (rows[pid] for pid, why in refused.items() if not why))
    spared = tuple(f"PID {pid} is left alone: {why}" for pid, why in sorted(refused.items()) if why)
    return roots, spared, tuple(sorted(each.process.pid for each in chosen if each not in running))


async def _end_all(
    host: Host, roots: Sequence[Process], report: Report, pace: Pace
) -> tuple[tuple[Process, ...], tuple[Process, ...]]:
    """Ask processes and what descends from them to end, then kill them; return all of them, and those killed."""
    family = await _with_descendants(host, roots)
    await _end(host, await _left(host, family), "TERM", GRACE if pace.drain is None else pace.drain, report, pace)
    family = await _with_descendants(host, family)
    killed = await _left(host, family)
    started = await _end(host, killed, "KILL", KILL_WAIT, report, pace)
    return (*family, *started), (*killed, *started)


def _why_not(found: Orphan | None) -> str:
    """Return why a process that was chosen and still runs is left alone; `found` is what another look says of it."""
    return "It is no orphan any more, or cannot be seen as one." if found is None else found.why_not


async def _end(
    host: Host, left: Sequence[Process], name: Signal, wait: float, report: Report, pace: Pace
) -> tuple[Process, ...]:
    """Signal processes and wait for their end; return what they were just starting and ends with them."""
    started: tuple[Process, ...] = ()
    if not left:
        return started
    report(Step(f"SIG{name} goes to {count(left)}.", wait))
    if name == "KILL":
        _, started = await processes.kill(host, left)
        left = (*left, *started)
    else:
        await processes.signal(host, left, name)
    begun = pace.clock()
    while (passed := pace.clock() - begun) < wait and (running := await _left(host, left)):
        report(Step(f"{still_run(running)}.", wait - passed))
        await pace.sleep(STEP)
    return started


async def _with_descendants(host: Host, family: Sequence[Process]) -> tuple[Process, ...]:
    """Return processes, and what has descended from them by now."""
    rows = await processes.list_processes(host)
    known = {(each.pid, each.start) for each in family}
    below = descendants(rows, {pid for pid, row in rows.items() if (pid, row.start) in known})
    return (
        *family,
        *await processes.describe(host, (rows[pid] for pid in below if (pid, rows[pid].start) not in known)),
    )


async def _memory(host: Host, ended: Collection[int], report: Report, pace: Pace) -> Holders:
    begun = pace.clock()
    while (gpus := await still_held(host, ended)).held:
        waited = pace.clock() - begun
        if waited >= GPU_WAIT:
            break
        report(Step(f"The GPU driver still holds the memory of {count_ended(gpus.held)}.", GPU_WAIT - waited))
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
    told = {read_identity(line) for line in lines}
    per_second, uptime = int(ticks) if ticks.isdigit() else 100, float(up or 0)
    return [
        replace(each, age=max(0.0, uptime - each.process.start / per_second))
        for each in chosen.values()
        if each.identity in told
    ]


async def _python_as_init(host: Host) -> bool:
    """Tell whether PID 1 is a Python program, as in a container: workers below it can be those of a live engine."""
    done = await host.run("cat /proc/1/comm; readlink /proc/1/exe", limit=4096)
    names = (line.rpartition("/")[2] for line in done.stdout.decode("utf-8", "replace").splitlines())
    return any(name.startswith("python") for name in names)


def _judge(orphan: Orphan, user: str, servers: Iterable[Server], rows: Mapping[int, Row], init: bool) -> Orphan:
    """Add why an orphan must not be cleared; `init` says that PID 1 may be its launcher."""
    process = orphan.process
    if init and rows[process.pid].ppid == 1:
        return replace(orphan, why_not="Its parent, PID 1, is a Python program and may have started it.")
    if process.user != user:
        return replace(orphan, why_not=f"It belongs to {process.user}, and you are {user} there.")
    for server in servers:
        if server.pid in (process.pgid, process.sid):
            return replace(orphan, why_not=f"It belongs to the server with PID {server.pid}, which runs.")
    return orphan


async def _without_serving(host: Host, judged: Sequence[Orphan], rows: Mapping[int, Row]) -> list[Orphan]:
    """Add why those must not be cleared that serve somebody, with all that were left behind in the same process group.

    An API server that has outlived its launcher answers, and an engine beside it does the work.
    """
    why: dict[int, tuple[int, str]] = {}
    for group in sorted({each.process.pgid for each in judged if not each.why_not}):
        ours = {each.process.pid for each in judged if each.process.pgid == group}
        why[group] = await why_serving(host, descendants(rows, ours))
    return [
        each if each.why_not else replace(each, why_not=_beside(each, *why[each.process.pgid], rows)) for each in judged
    ]


def _beside(orphan: Orphan, pid: int, why: str, rows: Mapping[int, Row]) -> str:
    if not why:
        return ""
    who = "It" if pid in descendants(rows, {orphan.process.pid}) else f"PID {pid}, left behind by the same server,"
    return f"{who} {why}."
