"""Samples of the server's processes: which of them is which rank, and when each last did something."""

from __future__ import annotations

from dataclasses import replace

from bringup.core import shards
from bringup.core.events import Process, ProcessesSeen
from bringup.core.ranks import MOST_RANKS, find, labels_of_title, put, rank_of
from bringup.core.state import Attempt, Mark, Rank, State

COMPILERS: tuple[str, ...] = (
    *("nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "nvlink"),
    *("gcc", "g++", "gcc-real", "cc1", "cc1plus", "clang", "clang++", "collect2", "as", "ld", "ninja"),
)
"""comm names of a kernel compile: nvcc and what it starts, the host compiler, ninja (FlashInfer, Triton)."""

NOISE_READ = 65536
"""Bytes read between two samples that an idle process reaches too: a waiting scheduler reads 32 bytes at a time."""
NOISE_FAULTS = 64
"""Minor faults between two samples that an idle process reaches too."""
NOISE_CPU = 0.05
"""Seconds of CPU between two samples that count as use of the CPU."""


def processes_seen(state: State, event: ProcessesSeen) -> State:
    """Return the state after a whole sample of the tree: what is missing from it has ended.

    A late sample of the server that was watched before says nothing about this one.
    """
    pids = {process.pid for process in event.processes}
    if state.server is not None and event.root != state.server.pid and state.server.pid not in pids:
        return state
    living = {process.pid: process for process in event.processes if process.state not in ("Z", "X")}
    attempt = _ranks_seen(state, living, event.at)
    cpu, work = _tree_marks(state, living, event.at)
    return replace(
        state,
        processes=event.processes,
        sampled_at=event.at,
        attempt=attempt,
        tree_cpu=cpu,
        tree_work=work,
        compilers=_compilers(state, living, event.at),
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


def _ranks_seen(state: State, living: dict[int, Process], at: float) -> Attempt:
    attempt = state.attempt
    ranks = attempt.ranks
    for process in living.values():
        labels = labels_of_title(process.title)
        number = None if labels is None else rank_of(attempt, labels)
        if number is None or labels is None:
            continue
        known = find(attempt, number)
        if known is None and len(ranks) >= MOST_RANKS:
            continue
        rank = known or Rank(number, labels)
        ranks = put(ranks, _update(state, replace(rank, labels=rank.labels or labels), process, at))
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
        shards=rank.shards if files is None else shards.look(state.attempt, rank, files, at),
        read_rate=_rate(old, process, state.sampled_at, at),
    )


def _rate(old: Process | None, new: Process, before: float | None, at: float) -> float | None:
    if old is None or before is None or at <= before:
        return None
    return max(0, new.read_bytes - old.read_bytes) / (at - before)


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


def _compilers(state: State, living: dict[int, Process], at: float) -> Mark:
    """A compiler that is new or has used the CPU is at work; a count of zero keeps the time of the last one."""
    before = {process.pid: process for process in state.processes}
    running = [process for process in living.values() if process.comm in COMPILERS]
    at_work = any(
        (old := before.get(process.pid)) is None or not is_same(old, process) or process.cpu_s > old.cpu_s
        for process in running
    )
    return _moved(state.compilers, len(running), at, at_work)
