"""Samples of the server's processes: which of them is which rank, and when each last did something."""

from __future__ import annotations

from dataclasses import replace

from bringup.core import shards
from bringup.core.events import Process, ProcessesSeen
from bringup.core.rank_memory import intake
from bringup.core.ranks import MOST_RANKS, find, put
from bringup.core.replicas import rank_processes, straightened
from bringup.core.state import Attempt, Mark, Rank, State

NOISE_READ = 65536
"""Bytes read between two samples that an idle process reaches too: a waiting scheduler reads 32 bytes at a time."""
NOISE_FAULTS = 64
"""Minor faults between two samples that an idle process reaches too."""
NOISE_CPU = 0.05
"""Seconds of CPU between two samples that count as use of the CPU."""
_MOST_NAMES = 64
"""Different names of processes that are remembered."""


def processes_seen(state: State, event: ProcessesSeen) -> State:
    """Return the state after a whole sample of the tree: what is missing from it has ended.

    A late sample of the server that was watched before says nothing about this one.
    """
    pids = {process.pid for process in event.processes}
    root = state.server.pid if state.server is not None else event.root
    if event.root != root and root not in pids:
        return state
    living = {process.pid: process for process in event.processes if process.state not in ("Z", "X")}
    attempt = _ranks_seen(state, living, event.at)
    cpu, work = _tree_marks(state, living, event.at)
    return replace(
        state,
        processes=event.processes,
        sampled_at=event.at,
        alive_at=event.at if root in living else state.alive_at,
        arrived_at=event.at if state.arrived_at is None else state.arrived_at,
        halted_at=_halted(state, event),
        attempt=attempt,
        tree_cpu=cpu,
        tree_work=work,
        children=_children(state, living, attempt, event.at),
    )


def is_same(old: Process, new: Process) -> bool:
    """Say whether two looks show the same process: a PID alone is used again."""
    return old.pid == new.pid and old.start == new.start


def worked(old: Process, new: Process) -> bool:
    """Say whether a process did more between two samples than an idle one does (CPU apart)."""
    return (
        new.majflt > old.majflt
        or new.minflt - old.minflt >= NOISE_FAULTS
        or new.read_bytes > old.read_bytes
        or new.rchar - old.rchar >= NOISE_READ
    )


def _halted(state: State, event: ProcessesSeen) -> float | None:
    """Since when the launcher is in state T."""
    root = state.server.pid if state.server is not None else event.root
    now = next((process for process in event.processes if process.pid == root), None)
    if now is None or now.state != "T":
        return None
    before = any(is_same(old, now) and old.state == "T" for old in state.processes)
    return state.halted_at if before else event.at


def _ranks_seen(state: State, living: dict[int, Process], at: float) -> Attempt:
    attempt = straightened(state.attempt, living)
    ranks = attempt.ranks
    for number, (labels, process) in rank_processes(attempt, living).items():
        known = find(attempt, number)
        if known is None and len(ranks) >= MOST_RANKS:
            continue
        rank = known or Rank(number, labels)
        ranks = put(ranks, _update(state, replace(rank, labels=max(rank.labels, labels, key=len)), process, at))
    ranks = tuple(_gone(rank, living, at) for rank in ranks)
    same = len(ranks) == len(attempt.ranks) and all(a is b for a, b in zip(ranks, attempt.ranks, strict=True))
    return attempt if same else replace(attempt, ranks=ranks)


def _update(state: State, rank: Rank, process: Process, at: float) -> Rank:
    old = rank.process if rank.process is not None and is_same(rank.process, process) else None
    files = process.shards
    return replace(
        rank,
        pid=process.pid,
        process=process,
        gone_at=None,
        in_state_since=rank.in_state_since if old is not None and old.state == process.state else at,
        cpu=_moved(rank.cpu, process.cpu_s, at, old is None or process.cpu_s - old.cpu_s >= NOISE_CPU),
        faults=_moved(
            rank.faults,
            process.minflt + process.majflt,
            at,
            old is None or process.majflt > old.majflt or process.minflt - old.minflt >= NOISE_FAULTS,
        ),
        read=_moved(
            rank.read,
            process.read_bytes + process.rchar,
            at,
            old is None or process.read_bytes > old.read_bytes or process.rchar - old.rchar >= NOISE_READ,
        ),
        intake=intake(state, rank, process),
        shards=rank.shards if files is None else shards.look(state, rank, files, at),
        read_rate=_rate(process.read_bytes - old.read_bytes, state.sampled_at, at) if old is not None else None,
        cpu_rate=_rate(process.cpu_s - old.cpu_s, state.sampled_at, at) if old is not None else None,
    )


def _rate(more: float, before: float | None, at: float) -> float | None:
    return max(0.0, more) / (at - before) if before is not None and at > before else None


def _gone(rank: Rank, living: dict[int, Process], at: float) -> Rank:
    if rank.process is None or rank.gone_at is not None:
        return rank
    now = living.get(rank.process.pid)
    return rank if now is not None and is_same(rank.process, now) else replace(rank, gone_at=at)


def _moved(mark: Mark, value: float, at: float, moved: bool) -> Mark:
    if moved:
        return Mark(value, at)
    return mark if mark.value == value else replace(mark, value=value)


def _tree_marks(state: State, living: dict[int, Process], at: float) -> tuple[Mark, Mark]:
    before = {process.pid: process for process in state.processes}
    used = work = False
    for pid, process in living.items():
        old = before.get(pid)
        new = old is None or not is_same(old, process)
        used = used or new or (old is not None and process.cpu_s - old.cpu_s >= NOISE_CPU)
        work = work or new or (old is not None and worked(old, process))
    cpu = sum(process.cpu_s for process in living.values())
    reads = sum(process.read_bytes + process.rchar for process in living.values())
    return _moved(state.tree_cpu, cpu, at, used), _moved(state.tree_work, reads, at, work)


def _children(state: State, living: dict[int, Process], attempt: Attempt, at: float) -> tuple[tuple[str, Mark], ...]:
    """Count the processes that are no ranks by name; one that is new or has used the CPU is at work.

    Which of the names are compilers is for the policy to say. A name keeps the time of its last work when all of its
    processes have ended.
    """
    before = {process.pid: process for process in state.processes}
    ranks = {rank.pid for rank in attempt.ranks}
    count: dict[str, int] = {}
    active: set[str] = set()
    for pid, process in living.items():
        if pid in ranks or not process.comm:
            continue
        old = before.get(pid)
        count[process.comm] = count.get(process.comm, 0) + 1
        if old is None or not is_same(old, process) or process.cpu_s - old.cpu_s >= NOISE_CPU:
            active.add(process.comm)
    known = dict(state.children)
    for comm in (*known, *count):
        known[comm] = _moved(known.get(comm, Mark()), float(count.get(comm, 0)), at, comm in active)
    newest = sorted(known.items(), key=lambda item: (item[1].value, item[1].moved_at or 0.0), reverse=True)
    return tuple(sorted(newest[:_MOST_NAMES]))
