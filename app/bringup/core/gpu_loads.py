"""What each GPU did in the last minutes: its memory, its utilisation, and how much of its power limit that took.

Utilisation alone says that a kernel ran, not that it computed: one that waits in a collective shows 100 %. The power
tells them apart, and where the driver gives no power limit nothing is claimed.
"""

from __future__ import annotations

from bringup.core.events import Gpu, GpusSeen
from bringup.core.policy import Signs
from bringup.core.state import GpuChannel, GpuLoad, Rank, State

NOISE_MIB = 32
"""Change of a GPU's memory in use (MiB) that counts as one."""
_KEPT_S = 120.0
_KEPT = 120
"""Samples of a GPU that are kept at most."""


def look(channel: GpuChannel, event: GpusSeen) -> tuple[GpuLoad, ...]:
    """Return what the GPUs did, with a new answer of nvidia-smi."""
    return tuple(_looked(load_of(channel, gpu.index) or GpuLoad(gpu.index), gpu, event.at) for gpu in event.gpus)


def _looked(known: GpuLoad, gpu: Gpu, at: float) -> GpuLoad:
    """Memory is held against what it was when it last changed: many small steps are a change, too."""
    share = gpu.power / gpu.power_limit if gpu.power is not None and gpu.power_limit else None
    recent = [sample for sample in known.samples if at - sample[0] <= _KEPT_S][1 - _KEPT :]
    moved = gpu.used is not None and known.used is not None and abs(gpu.used - known.used) >= NOISE_MIB
    return GpuLoad(
        index=gpu.index,
        moved_at=at if moved else known.moved_at,
        used=gpu.used if moved or known.used is None else known.used,
        samples=(*recent, (at, gpu.utilization, share)),
    )


def load_of(channel: GpuChannel, index: int | None) -> GpuLoad | None:
    """Return what a GPU did, or None where it is not known."""
    return next((load for load in channel.loads if load.index == index), None)


def memory_moved_at(state: State, rank: Rank) -> float | None:
    """Return when the memory of a rank's GPU last changed."""
    load = load_of(state.gpu, rank.gpu)
    return load.moved_at if load is not None else None


def worked_at(state: State, signs: Signs) -> float | None:
    """Return when a GPU of this server's last computed: busy, and with the power that computing takes."""
    own = _own(state)
    times = [_computed(load, signs) for load in state.gpu.loads if load.index in own]
    return max((at for at in times if at is not None), default=None)


def _computed(load: GpuLoad, signs: Signs) -> float | None:
    for at, used, share in reversed(load.samples):
        if used is not None and share is not None and used >= signs.gpu_full / 2 and share >= signs.gpu_works:
            return at
    return None


def is_spinning(state: State, index: int | None, signs: Signs, now: float) -> bool:
    """Say whether a GPU has been full at little power for a while, up to now: its kernel waits for other ranks."""
    load = load_of(state.gpu, index)
    if load is None or index not in _own(state):
        return False
    since = None
    for at, used, share in reversed(load.samples):
        if used is None or share is None or used < signs.gpu_full or share >= signs.gpu_waits:
            break
        since = at
    if since is None or now - load.samples[-1][0] > signs.gpu_steady:
        return False
    return load.samples[-1][0] - since >= signs.gpu_steady


def is_idle(state: State, index: int | None, signs: Signs, now: float) -> bool:
    """Say whether a GPU of this server's has not been in use for a while, up to now."""
    load = load_of(state.gpu, index)
    if load is None or index not in _own(state):
        return False
    recent = [(at, used) for at, used, _ in load.samples if now - at <= 2 * signs.gpu_steady]
    return len(recent) > 1 and recent[-1][0] - recent[0][0] >= signs.gpu_steady and not any(used for _, used in recent)


def _own(state: State) -> frozenset[int]:
    """The GPUs that hold memory of this server's ranks, and of nobody else."""
    pids = {process.pid for process in state.processes} | {rank.pid for rank in state.attempt.ranks}
    shared = {app.gpu for app in state.gpu.apps if app.pid not in pids}
    return frozenset(app.gpu for app in state.gpu.apps if app.pid in pids) - shared
