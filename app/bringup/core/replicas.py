"""Which replica a process of an ordinary data-parallel launch belongs to, where its own name does not say so.

vLLM's workers of a dense model print and carry the same names in every replica (`Worker_TP0`, `Worker`): each replica
is a world of its own. What tells them apart is the engine core above them in the process tree, `EngineCore_DP1`, and in
the log the process id before each line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bringup.core.events import Labels, LogEvent, PhaseBegan, Process
from bringup.core.ranks import (
    ENGINE,
    find,
    has_replicas,
    labels_of_title,
    put,
    rank_of,
    replica_of_title,
    worlds,
)
from bringup.core.state import Attempt, Rank, State, Worker

_DEEPEST = 8
"""Levels of the tree between a worker and its engine core, at most."""
_MOST_WORKERS = 1024


def rank_processes(attempt: Attempt, living: Mapping[int, Process]) -> dict[int, tuple[Labels, Process]]:
    """Return the process that runs each rank, with its labels.

    A worker goes before the engine core that started it: the core is a rank only where it runs the model itself.
    """
    found: dict[int, tuple[Labels, Process]] = {}
    for process in living.values():
        labels = labels_of_process(attempt, process, living)
        number = rank_of(attempt, labels) if labels is not None else None
        if number is None or labels is None:
            continue
        other = found.get(number)
        if other is None or _is_rather_the_rank(attempt, number, (labels, process), other):
            found[number] = (labels, process)
    return found


def labels_of_process(attempt: Attempt, process: Process, living: Mapping[int, Process]) -> Labels | None:
    """Return the labels of a rank's process, with the replica that the tree tells; None for every other process."""
    labels = labels_of_title(process.title)
    if labels is None or not has_replicas(attempt) or _says_its_replica(labels):
        return labels
    replica = _replica_above(process.pid, living)
    if replica is None:
        known = next((rank for rank in attempt.ranks if rank.pid == process.pid), None)
        return known.labels if known is not None and known.labels else None
    return _within(attempt, labels, replica)


def introduce(state: State, event: LogEvent) -> Attempt:
    """Return the attempt with the writer of a line remembered, where only its process id tells it from another rank.

    The tree says of which replica it is. From the log alone writers of one name are counted through in the order in
    which they first spoke: so they are different ranks, but which of them is which replica is not known.
    """
    attempt = state.attempt
    if isinstance(event, PhaseBegan) and event.world is not None and attempt.world != event.world:
        attempt = replace(attempt, world=event.world)
    if event.pid is None or _is_told(attempt, event.labels) or len(attempt.workers) >= _MOST_WORKERS:
        return attempt
    if any(worker.pid == event.pid and worker.labels == event.labels for worker in attempt.workers):
        return attempt
    replica = _replica_above(event.pid, {process.pid: process for process in state.processes})
    known = replica is not None
    if not known and event.labels:
        taken = {worker.replica for worker in attempt.workers if worker.labels == event.labels}
        replica = next((number for number in range(attempt.dp) if number not in taken), None)
    if replica is None:
        return attempt
    return replace(attempt, workers=(*attempt.workers, Worker(event.pid, event.labels, replica, known)))


def placed(attempt: Attempt, event: LogEvent) -> LogEvent:
    """Return a line's event with the rank of its writer, where the line names only a place within a replica."""
    if event.pid is None or _is_told(attempt, event.labels):
        return event
    for worker in attempt.workers:
        if worker.pid == event.pid and worker.labels == event.labels:
            labels = _labels_of(attempt, worker)
            return event if labels is None else replace(event, labels=labels)
    return event


def straightened(attempt: Attempt, living: Mapping[int, Process]) -> Attempt:
    """Return the attempt with every writer at its own rank, once the tree tells of which replica it is."""
    now = tuple(_recognised(worker, living) for worker in attempt.workers)
    if now == attempt.workers:
        return attempt
    moves: dict[int, int] = {}
    for before, after in zip(attempt.workers, now, strict=True):
        source, target = _number(attempt, before), _number(attempt, after)
        if source is not None and target is not None and source != target:
            moves[source] = target
    told = {rank.rank: rank for rank in attempt.ranks}
    came = {target: told[source] for source, target in moves.items() if source in told}
    ranks = attempt.ranks
    for number in {*moves, *came}:
        origin = came.get(number, Rank(number))
        rank = told.get(number, Rank(number))
        ranks = put(ranks, replace(rank, edges=origin.edges, heard_at=origin.heard_at, labels=(), reaches=()))
    return replace(attempt, workers=now, ranks=ranks)


def _recognised(worker: Worker, living: Mapping[int, Process]) -> Worker:
    replica = None if worker.known else _replica_above(worker.pid, living)
    return worker if replica is None else replace(worker, replica=replica, known=True)


def _number(attempt: Attempt, worker: Worker) -> int | None:
    labels = _labels_of(attempt, worker)
    return rank_of(attempt, labels) if labels is not None else None


def _labels_of(attempt: Attempt, worker: Worker) -> Labels | None:
    """The labels within the launch; without the replica's where it was only counted."""
    labels = _within(attempt, worker.labels, worker.replica)
    if worker.known or labels is None:
        return labels
    number = rank_of(attempt, labels)
    return None if number is None else (*worker.labels, ("rank", number))


def _is_told(attempt: Attempt, labels: Labels) -> bool:
    """The labels name one rank of the launch; a bare rank does so where all replicas are one world."""
    if not has_replicas(attempt) or _says_its_replica(labels):
        return True
    return any(name == "rank" for name, _ in labels) and worlds(attempt) == 1


def _says_its_replica(labels: Labels) -> bool:
    return any(name in ("dp", ENGINE) for name, _ in labels)


def _within(attempt: Attempt, labels: Labels, replica: int) -> Labels | None:
    """The labels within the launch; a worker without any is told from its siblings only where it has none."""
    given = dict(labels)
    if "rank" in given:
        size = attempt.tp * attempt.pp
        return (("rank", replica * size + given["rank"]),)
    if not labels and attempt.tp * attempt.pp > 1:
        return None
    return tuple(sorted((*labels, ("dp", replica))))


def _replica_above(pid: int, living: Mapping[int, Process]) -> int | None:
    """The replica of the nearest engine core above a process."""
    for _ in range(_DEEPEST):
        process = living.get(pid)
        if process is None:
            return None
        replica = replica_of_title(process.title)
        if replica is not None:
            return replica
        pid = process.ppid
    return None


def _is_rather_the_rank(
    attempt: Attempt, number: int, new: tuple[Labels, Process], old: tuple[Labels, Process]
) -> bool:
    cores = [any(name == ENGINE for name, _ in labels) for labels, _ in (new, old)]
    if cores[0] != cores[1]:
        return cores[1]
    known = find(attempt, number)
    return known is not None and known.pid == new[1].pid
