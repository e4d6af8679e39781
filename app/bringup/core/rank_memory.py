"""GPU memory of a rank's process while it loads, for engines and loaders that show nothing else.

It is a meter of the load only where it grows with it. SGLang allocates all parameters before it reads the first file
(0.4.9 to 0.5.23), so there it jumps to its full size at once and says nothing. Whether it grows is not taken on trust
elsewhere either: it must have risen in many small steps while the model was far from complete.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bringup.core.edges import open_edge
from bringup.core.events import GpusSeen, PhaseEnded, Process, Role
from bringup.core.gpu_loads import NOISE_MIB
from bringup.core.rank import STILL
from bringup.core.ranks import has_draft
from bringup.core.shard_list import checkpoint_of
from bringup.core.state import Attempt, Growth, Mark, Rank, State, Weighed

MIB = 1024 * 1024
_ALLOCATES_FIRST = ("sglang",)
_FEWEST_RISES = 4
_SHORTEST = 8.0
"""Seconds over which the rises must be spread: empty parameters are allocated within moments."""
_LARGEST_STEP = 0.35
"""Share of the whole that one rise may bring."""
_FAR_FROM_FULL = 0.8
_FRESH = 5.0
"""Seconds around the beginning of a load within which a look counts as one at its beginning."""
_MOST_WEIGHED = 8
_SIZE = re.compile(r"Checkpoint size: (\d{1,7}(?:\.\d{1,4})?) GiB")


def look(state: State, event: GpusSeen) -> tuple[Rank, ...]:
    """Return the ranks with the GPU that each holds memory on, and with what it holds there."""
    held: dict[int, tuple[int, int]] = {}
    for app in event.apps:
        used = app.used or 0
        if app.pid not in held or used > held[app.pid][1]:
            held[app.pid] = (app.gpu, used)
    ranks = tuple(
        _holding(state, rank, *held[rank.pid], event.at) if rank.pid in held else _without(rank, event)
        for rank in state.attempt.ranks
    )
    same = all(new is old for new, old in zip(ranks, state.attempt.ranks, strict=True))
    return state.attempt.ranks if same else ranks


def loading_role(attempt: Attempt, rank: Rank) -> Role | None:
    """Return the model that a rank is loading, or None: its own lines tell, else those of ranks that do print some."""
    edge = open_edge(rank.edges, "weights")
    if edge is not None:
        return edge.role
    done = {edge.role for edge in rank.edges if edge.phase == "weights"}
    opened = [edge.role for other in attempt.ranks if (edge := open_edge(other.edges, "weights")) is not None]
    return next((role for role in opened if role not in done and attempt.engine == "vllm"), None)


def grown(state: State, rank: Rank, role: Role) -> tuple[int, int] | None:
    """Return (MiB held for a model, MiB that it will take) where memory follows its load, else None."""
    growth = next((known for known in rank.growths if known.role == role), None)
    whole = expected_mib(state, role)
    if growth is None or not growth.steady or not whole:
        return None
    return growth.used - growth.base, whole


def expected_mib(state: State, role: Role) -> int | None:
    """Return what a rank will hold for a model: as a peer or an earlier start measured it, else its share of the files.

    Files are no more than an estimate of what is held: a loader may convert or pad them.
    """
    attempt = state.attempt
    split = attempt.tp * attempt.pp
    for known in reversed(attempt.weighed):
        if role == "target" and (known.model, known.split) == (attempt.model, split) and not has_draft(attempt):
            return round(known.gib * 1024)
    checkpoint = checkpoint_of(state, role)
    if checkpoint is not None and checkpoint.size:
        return checkpoint.size // MIB // max(1, split)
    said = _SIZE.search(dict(attempt.facts).get("checkpoint", "")) if role == "target" else None
    return round(float(said[1]) * 1024) // max(1, split) if said else None


def weigh(attempt: Attempt, event: PhaseEnded) -> Attempt:
    """Return the attempt with what the engine measured of a loaded model (vLLM: target and drafter together)."""
    if event.gib is None or not 0 < event.gib < 1 << 20 or not attempt.model:
        return attempt
    entry = Weighed(attempt.model, attempt.tp * attempt.pp, event.gib)
    return attempt if entry in attempt.weighed else replace(attempt, weighed=(*attempt.weighed, entry)[-_MOST_WEIGHED:])


def intake(state: State, rank: Rank, process: Process) -> tuple[Role, int] | None:
    """Return the model that a rank loads and what its process had read when that was first seen."""
    role = loading_role(state.attempt, rank)
    if role is None:
        return None
    if rank.intake is not None and rank.intake[0] == role:
        return rank.intake
    before = rank.process if rank.process is not None and rank.process.pid == process.pid else process
    return role, before.rchar


def read_by_calls(rank: Rank, role: Role) -> int:
    """Return the bytes that a rank has read with read(2) since it began to load a model: none of them where it maps."""
    if rank.process is None or rank.intake is None or rank.intake[0] != role:
        return 0
    return max(0, rank.process.rchar - rank.intake[1])


def _without(rank: Rank, event: GpusSeen) -> Rank:
    """A rank that holds no GPU memory yet: noted, so that what it holds later is known to be its load."""
    if rank.pid is None or rank.held.value or rank.held.moved_at is not None or not event.gpus:
        return rank
    return replace(rank, held=Mark(0.0, event.at))


def _holding(state: State, rank: Rank, gpu: int, used: int, at: float) -> Rank:
    moved = rank.held is STILL or abs(used - rank.held.value) >= NOISE_MIB
    held = Mark(used, at) if moved else rank.held
    growths = _growths(state, rank, used, at)
    if gpu == rank.gpu and held is rank.held and growths is rank.growths:
        return rank
    return replace(rank, gpu=gpu, held=held, growths=growths)


def _growths(state: State, rank: Rank, used: int, at: float) -> tuple[Growth, ...]:
    role = loading_role(state.attempt, rank)
    if role is None or state.attempt.engine in _ALLOCATES_FIRST:
        return rank.growths
    old = next((known for known in rank.growths if known.role == role), None)
    new = _begun(state, rank, role, used, at) if old is None else _grown(state, old, used, at)
    if new is None or new is old:
        return rank.growths
    return (*(known for known in rank.growths if known.role != role), new)


def _begun(state: State, rank: Rank, role: Role, used: int, at: float) -> Growth | None:
    """The beginning of a load: what was held before is known only where it was looked at then."""
    began = _began_at(state.attempt, role)
    if began is None:
        return None
    before = state.gpu.seen_at
    if rank.held.moved_at is not None and before is not None and abs(before - began) <= _FRESH:
        base = round(rank.held.value)
    elif at <= began + _FRESH:
        base = used
    else:
        return None
    fresh = Growth(role, base, base, began_at=at)
    return _grown(state, fresh, used, at)


def _began_at(attempt: Attempt, role: Role) -> float | None:
    begins = (edge for rank in attempt.ranks for edge in rank.edges if (edge.phase, edge.role) == ("weights", role))
    return min((edge.began for edge in begins if edge.began is not None), default=None)


def _grown(state: State, old: Growth, used: int, at: float) -> Growth:
    rise = used - old.used
    if rise < NOISE_MIB:
        return old
    new = replace(old, used=used, rises=old.rises + 1, largest=max(old.largest, rise), moved_at=at)
    whole = expected_mib(state, old.role)
    return new if old.steady or whole is None else replace(new, steady=_follows_the_load(new, whole))


def _follows_the_load(growth: Growth, whole: int) -> bool:
    return (
        growth.rises >= _FEWEST_RISES
        and growth.moved_at - growth.began_at >= _SHORTEST
        and growth.largest <= _LARGEST_STEP * whole
        and growth.used - growth.base <= _FAR_FROM_FULL * whole
    )
