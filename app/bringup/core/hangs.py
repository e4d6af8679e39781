"""The shape of a hang: who waits for whom, and how one can tell.

A stall says that nothing moves. Its shape says why: one rank is missing, all of them turn in a collective, a process
was stopped, waits in the kernel, or is not there any more. The culprit is called proven only where a rank's own lines
or the kernel's own words leave no other: a rank that alone has not ended what all others have, one in state T, one that
waits in state D while its peers go on. That the others spin and one does not is a hint.
"""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.blocked import wait_of
from bringup.core.causes import Outcome, lost_ranks
from bringup.core.gpu_loads import is_idle, is_spinning
from bringup.core.liveness import Liveness
from bringup.core.phases import Position, Step
from bringup.core.policy import Policy
from bringup.core.state import Rank, State
from bringup.core.verdict import Hang, StateName


@dataclass(frozen=True, slots=True)
class Shape:
    """How a start hangs; `name` is empty where it does not."""

    name: Hang = ""
    ranks: tuple[int, ...] = ()
    """Ranks that the others wait for, or that are in the state it speaks of."""
    proven: bool = False
    """These ranks are the culprits, whatever else is the matter."""
    by: str = ""
    """What tells it: "ended" or "begun" (log lines), "gpus", "cpu"; for state D what is waited for."""
    wchan: str = ""
    """The kernel's wait channel of a process in state D."""


NO_HANG = Shape()


def shape_of(
    state: State, where: Position, live: Liveness, end: Outcome | None, name: StateName, now: float, policy: Policy
) -> Shape:
    """Return the shape of a stall, or of ranks that went without a word."""
    if name == "degraded" and live.stopped:
        return Shape("stopped", _numbers(live.stopped), proven=True)
    if name in ("failed", "degraded"):
        return _lost(state, end)
    if name != "stalled":
        return NO_HANG
    if live.stopped or live.launcher is not None:
        return Shape("stopped", _numbers(live.stopped), proven=True)
    if live.stuck:
        return _in_kernel(live.stuck, policy, proven=True)
    step = where.step if where.step is not None and not where.step.complete else None
    waiting = [rank for rank in state.attempt.ranks if step is None or rank.rank in step.missing]
    if waiting and all(rank.process is not None and rank.process.state == "D" for rank in waiting):
        return _in_kernel(tuple(waiting), policy, proven=False)
    return _for_one(step) or _turning(state, now, policy) or Shape("silent", step.missing if step is not None else ())


def _lost(state: State, end: Outcome | None) -> Shape:
    """Ranks that went and said nothing: zombies where their parent has not noticed, else gone."""
    if end is not None and end.explained and (end.cause is None or end.cause.channel != "kernel"):
        return NO_HANG
    lost = lost_ranks(state)
    if not lost:
        return NO_HANG
    pids = {rank.pid for rank in state.attempt.ranks if rank.rank in lost}
    dead = {process.pid for process in state.processes if process.state == "Z"}
    return Shape("zombie" if pids <= dead else "gone", lost, proven=True)


def _in_kernel(ranks: tuple[Rank, ...], policy: Policy, *, proven: bool) -> Shape:
    processes = [rank.process for rank in ranks if rank.process is not None]
    waits = {wait_of(process, policy) for process in processes}
    channels = {process.wchan for process in processes}
    return Shape(
        "uninterruptible",
        _numbers(ranks),
        proven=proven,
        by=waits.pop() if len(waits) == 1 else "",
        wchan=channels.pop() if len(channels) == 1 else "",
    )


def _for_one(step: Step | None) -> Shape | None:
    """All others have ended the step, or begun it, and one has not: its lines say so."""
    if step is None or len(step.expected) < 2:
        return None
    if len(step.missing) == 1:
        return Shape("waits-for-one", step.missing, proven=True, by="ended")
    late = tuple(sorted(step.expected - step.begun))
    if len(late) == 1 and not step.done:
        return Shape("waits-for-one", late, proven=True, by="begun")
    return None


def _turning(state: State, now: float, policy: Policy) -> Shape | None:
    """All ranks spin, or all but one: on their GPUs, and where none is seen, on the CPU."""
    ranks = [rank for rank in state.attempt.ranks if rank.process is not None and rank.gone_at is None]
    on_gpus = [rank for rank in ranks if is_spinning(state, rank.gpu, policy.signs, now)]
    if on_gpus:
        rest = tuple(rank for rank in ranks if rank not in on_gpus)
        idle = all(is_idle(state, rank.gpu, policy.signs, now) for rank in rest)
        return _all_but(on_gpus, rest if idle else (), len(ranks), "gpus")
    on_cpu = [rank for rank in ranks if (rank.cpu_rate or 0.0) >= policy.signs.cpu_spins]
    rest = tuple(rank for rank in ranks if rank not in on_cpu and (rank.cpu_rate or 0.0) < policy.signs.cpu_spins / 8)
    return _all_but(on_cpu, rest, len(ranks), "cpu")


def _all_but(turning: list[Rank], rest: tuple[Rank, ...], total: int, by: str) -> Shape | None:
    if turning and len(turning) == total:
        return Shape("spinning", _numbers(tuple(turning)), by=by)
    if len(rest) == 1 and len(turning) == total - 1 and total > 2:
        return Shape("waits-for-one", _numbers(rest), by=by)
    return None


def _numbers(ranks: tuple[Rank, ...]) -> tuple[int, ...]:
    return tuple(sorted(rank.rank for rank in ranks))
