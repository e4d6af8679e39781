"""What of a log is older than the process that is watched: a log that is appended to holds the starts before it, too.

A failure that came before its launch was printed belongs to a start of which nothing else is known. It is taken from
the living process only where it is proven to be older: by when it was read, by when the log was last written to, or by
where the log ended at the launch.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.events import LogBegan, LogWritten, ProcessesSeen, Server
from bringup.core.ranks import put
from bringup.core.samples import processes_seen
from bringup.core.state import Attempt, EndingLine, FaultLine, Rank, State
from bringup.core.succession import SLACK, filled, kept, successor
from bringup.core.whose import is_proven


def log_written(state: State, event: LogWritten) -> State:
    """Return the state after the host said when the logs were last written to: they may tell of earlier starts only.

    A process that is younger than all that was read of its logs has not said anything yet. Where its launch wrote down
    at which place of the log it begins, that counts more: the clock of a network file system may be behind.
    """
    if not event.whole:
        return state
    server, attempt = state.server, _dated(state.attempt, event.at)
    state = state if attempt is state.attempt else replace(state, attempt=attempt)
    is_older = server is not None and 0 < event.at < server.started_at - SLACK
    return begun(state, server) if server is not None and is_older and not is_proven(state, server) else state


def log_began(state: State, _: LogBegan) -> State:
    """Return the state at the place in the log at which the watched process begins."""
    if state.server is None:
        return state
    state = begun(state, state.server)
    return replace(state, log=replace(state.log, is_own=True))


def begun(state: State, server: Server) -> State:
    """Return the state where nothing that was read so far is of this process: it has an attempt of its own."""
    old = state.attempt
    if old.last_line_at is None:
        return state
    fresh = replace(filled(successor(old), server), version=state.installed, began_at=server.started_at or None)
    earlier = kept(state.earlier, old) if old.logged or old.faults else state.earlier
    return _with_ranks(replace(state, attempt=fresh, earlier=earlier), old.ranks)


def parted(attempt: Attempt, until: float) -> tuple[Attempt, Attempt]:
    """Return the attempt twice: with the lines of trouble from before a time, and with all others."""
    faults = [line for line in attempt.faults if _is_before(line, until)]
    endings = [line for line in attempt.endings if _is_before(line, until)]
    return (
        replace(attempt, faults=tuple(faults), endings=tuple(endings)),
        replace(
            attempt,
            faults=tuple(line for line in attempt.faults if line not in faults),
            endings=tuple(line for line in attempt.endings if line not in endings),
        ),
    )


def _dated(attempt: Attempt, at: float) -> Attempt:
    """Take note that all lines of trouble so far had been written by a time."""
    faults = tuple(replace(line, by=at) if line.by is None else line for line in attempt.faults)
    endings = tuple(replace(line, by=at) if line.by is None else line for line in attempt.endings)
    return replace(attempt, faults=faults, endings=endings) if faults or endings else attempt


def _is_before(line: FaultLine | EndingLine, until: float) -> bool:
    """Tell whether a line is older; of one without any time of its own that is not known."""
    at = line.at if line.by is None else line.by
    return 0 < at < until


def _with_ranks(state: State, before: tuple[Rank, ...]) -> State:
    """Return the state of a new attempt with the ranks that are told by the processes that were seen so far."""
    arrived = state.arrived_at
    if state.server is None or arrived is None or state.sampled_at is None:
        return state
    sample = ProcessesSeen(at=state.sampled_at, root=state.server.pid, processes=state.processes)
    state = processes_seen(state, sample)
    known = {rank.rank for rank in state.attempt.ranks}
    ranks = state.attempt.ranks
    for rank in before:
        if rank.gone_at is not None and rank.gone_at > arrived and rank.rank not in known:
            lost = replace(rank, edges=(), heard_at=None, shards=(), reaches=(), growths=(), intake=None)
            ranks = put(ranks, lost)
    return replace(state, attempt=replace(state.attempt, ranks=ranks))
