"""Processes that cannot go on by themselves: stopped by a signal (state T), or held by the kernel (state D)."""

from __future__ import annotations

from bringup.core.events import Process
from bringup.core.phases import Position
from bringup.core.policy import Patience, Policy
from bringup.core.state import Rank, State


def wait_of(process: Process, policy: Policy) -> str:
    """Return what a process in state D waits for, in words; empty where its wait channel does not tell."""
    found = (
        what
        for what, beginnings in policy.waits.items()
        if any(process.wchan.startswith(beginning) for beginning in beginnings)
    )
    return next(found, "") if process.wchan else ""


def stuck_after(process: Process, patience: Patience, policy: Policy) -> float:
    """Return the seconds in state D without work that what it waits for can explain."""
    return policy.stuck.get(wait_of(process, policy), patience.stuck)


def stuck_ranks(state: State, where: Position, now: float, patience: Patience, policy: Policy) -> tuple[Rank, ...]:
    """Return the ranks in state D that did nothing for longer than what they wait for explains, unlike a peer."""
    return tuple(
        rank
        for rank, quiet in _held(state, where, now, policy)
        if rank.process is not None and quiet >= stuck_after(rank.process, patience, policy)
    )


def held_ranks(state: State, where: Position, now: float, policy: Policy) -> tuple[tuple[Rank, float], ...]:
    """Return the ranks that wait in the kernel for long enough to be named, each with its seconds without work."""
    return tuple(pair for pair in _held(state, where, now, policy) if pair[1] >= policy.signs.held_slow)


def stopped_ranks(state: State, now: float, patience: Patience) -> tuple[Rank, ...]:
    """Return the ranks in state T, for longer than a debugger would take for a look."""
    return tuple(
        rank
        for rank in state.attempt.ranks
        if rank.process is not None
        and rank.gone_at is None
        and rank.process.state == "T"
        and now - max(rank.in_state_since or 0.0, rank.cpu.moved_at or 0.0) >= patience.stopped
    )


def stopped_launcher(state: State, now: float, patience: Patience) -> int | None:
    """Return the PID of the launcher where it is stopped, and is not a rank itself; None where it is not."""
    if state.halted_at is None or state.gone_at is not None or now - state.halted_at < patience.stopped:
        return None
    known = {process.pid for process in state.processes}
    roots = (process for process in state.processes if process.ppid not in known)
    pid = state.server.pid if state.server is not None else next((process.pid for process in roots), None)
    return None if pid in {rank.pid for rank in state.attempt.ranks} else pid


def _held(state: State, where: Position, now: float, policy: Policy) -> tuple[tuple[Rank, float], ...]:
    """Ranks in a step that are in state D and flat on every counter, while a peer worked on or came to its end."""
    if where.step is None or where.step.complete or where.phase in ("warmup", "serving"):
        return ()
    last: dict[int, float] = {}
    for rank in state.attempt.ranks:
        edge = where.step.edge(rank.rank)
        ended = edge.ended if edge is not None else None
        marks = (ended, rank.cpu.moved_at, rank.faults.moved_at, rank.read.moved_at)
        last[rank.rank] = max((at for at in marks if at is not None), default=now)
    newest = max(last.values(), default=now)
    return tuple(
        (rank, now - last[rank.rank])
        for rank in state.attempt.ranks
        if rank.process is not None
        and rank.process.state == "D"
        and rank.gone_at is None
        and rank.rank in where.step.begun & frozenset(where.step.missing)
        and now - (rank.in_state_since or 0.0) >= policy.signs.held
        and newest - last[rank.rank] >= policy.signs.peers_ahead
    )
