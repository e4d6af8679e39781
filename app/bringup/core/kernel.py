"""What the kernel log explains: an end by the OOM killer, a crash, a fault of a GPU; and when it is worth asking.

The lines in the state are about this server's processes and this machine's GPUs (hosts/kernel_log filters them). Lines
of an earlier start, or without a usable time, prove nothing about this one.
"""

from __future__ import annotations

from bringup.core.events import KernelLine
from bringup.core.state import Rank, State
from bringup.core.verdict import Verdict

_DRIFT = 600.0
"""Seconds by which a kernel stamp may be off: dmesg reckons from a clock that nobody has set right since boot."""
_NEAR = 120.0
"""Seconds around the loss of a process within which a GPU's fault that names nobody counts as its reason."""
_TOGETHER = 0.9
"""Seconds between two losses below which a sample cannot tell which came first."""
_KINDS = {"oom": "oom", "gpu-fault": "gpu-fault", "fault": "kernel"}
"""Cause kind by kind of line."""


def explaining_line(state: State) -> KernelLine | None:
    """Return the kernel's line that explains why processes of this start went, or None.

    The first that names one of them; else a fault of a GPU that names nobody, where a process went near it.
    """
    lines = [line for line in state.kernel if line.at and line.at >= (state.attempt.began_at or 0.0) - _DRIFT]
    oom = [line for line in lines if line.kind == "oom" and line.pid is not None]
    # A tree that is torn down crashes here and there: only what was lost first crashed by itself.
    times, pids = _first_lost(state)
    first = [line for line in lines if line.kind != "oom" and line.pid in pids]
    near = [
        line
        for line in lines
        if line.kind == "gpu-fault" and line.pid is None and any(abs(at - line.at) <= _NEAR for at in times)
    ]
    return next(iter([*oom, *first, *near]), None)


def _first_lost(state: State) -> tuple[tuple[float, ...], frozenset[int]]:
    """Return when the first processes of this start were lost, and which these are."""
    lost = [(rank.gone_at, rank.pid) for rank in state.attempt.ranks if rank.gone_at is not None and rank.pid]
    if not lost and state.gone_at is not None and state.server is not None:
        lost = [(state.gone_at, state.server.pid)]
    first = min((at for at, _ in lost), default=0.0)
    near = [(at, pid) for at, pid in lost if at - first < _TOGETHER]
    return tuple(at for at, _ in near), frozenset(pid for _, pid in near)


def stalling_line(state: State) -> KernelLine | None:
    """Return the kernel's line about a GPU fault of one of this start's processes, which explains a stall."""
    since = (state.attempt.began_at or 0.0) - _DRIFT
    found = (line for line in state.kernel if line.kind == "gpu-fault" and line.pid is not None and line.at >= since)
    return next((line for line in found if line.at), None)


def is_unexplained(state: State, verdict: Verdict) -> bool:
    """Say whether something went, or hangs, that no line explains: then the kernel log is worth asking."""
    if verdict.state == "stalled":
        return stalling_line(state) is None
    if verdict.state in ("failed", "stopped", "degraded") and verdict.hang in ("gone", "zombie"):
        return explaining_line(state) is None
    cause = verdict.cause
    return verdict.state in ("failed", "stopped") and cause is not None and cause.channel == "processes"


def cause_kind(line: KernelLine) -> str:
    """Return the kind of cause that a kernel line stands for."""
    return _KINDS[line.kind]


def rank_of_line(state: State, line: KernelLine) -> Rank | None:
    """Return the rank whose process a kernel line names."""
    return next((rank for rank in state.attempt.ranks if line.pid is not None and rank.pid == line.pid), None)
