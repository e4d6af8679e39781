"""Whose launch a log tells of: that of the process that is watched, or that of a start before it.

A stamp without a zone was read as if it were in the host's; the server may print in another one (TZ in its environment,
a container in UTC), which puts what it tells hours off in either direction.
"""

from __future__ import annotations

import math
from dataclasses import replace

from bringup.core.events import LinesRead, LogEvent, Server
from bringup.core.state import Attempt, FaultLine, State
from bringup.core.succession import SLACK

_QUARTER = 900.0
"""Seconds: all zones in use differ by whole quarter hours (tz database)."""
_WEST, _EAST = -12 * 3600.0, 14 * 3600.0
"""The zones that there are, in seconds east of UTC."""
_DELAY = 30.0
"""Seconds that a line may lie in a buffer and still tell, by when it arrives, in which zone its stamp is."""


_LAST_WORDS = 5.0
"""Seconds after its end was seen within which what a process said last has been read, however slow the connection."""


def has_arrived(event: LogEvent | LinesRead) -> bool:
    """Tell whether the time of an event is not the line's own word for it: it came while somebody listened."""
    return event.at > 0 and event.at != event.stamp


def told_skew(event: LinesRead) -> float | None:
    """Return how many seconds the stamps of a log lack, as lines that arrive now prove it; None where they do not."""
    if event.stamp is None or not has_arrived(event):
        return None
    late = event.at - event.stamp
    skew = math.floor((late + SLACK) / _QUARTER) * _QUARTER
    return skew if late - skew <= _DELAY else None


def is_earlier(state: State, server: Server, now: float) -> bool:
    """Tell whether the launch that was printed last is older than a process that lives at a moment."""
    attempt, began = state.attempt, server.started_at - SLACK
    launched = attempt.launched_at
    if not launched or not server.started_at or is_proven(state, server):
        return False
    by = [line.by for line in attempt.faults] + [line.by for line in attempt.endings]
    if any(at is not None and 0 < at < began for at in by):
        return True
    if attempt.arrived:
        return launched < began
    if state.log.skew is not None:
        return launched + state.log.skew < began
    if began <= launched <= now + SLACK:
        return False
    grew = state.log.grew_at
    until = SLACK + (grew if grew is not None and server.started_at <= grew <= now else now)
    return not any(_fits(attempt, skew, began, until) for skew in _skews(launched, began, until, state.utc_offset))


def without_later(state: State) -> tuple[State, FaultLine | None]:
    """Return the state without what a later start has said in the same log, and the first error among that.

    Lines that come when the launcher has been gone for a while are not why it ended, be they its orphans' or a new
    process's that failed before it printed its arguments or was found.
    """
    attempt, gone = state.attempt, state.gone_at
    launched = attempt.launched_at
    if gone is None or state.server is None or (launched is not None and launched > gone):
        return state, None
    until = gone + _LAST_WORDS
    faults = tuple(line for line in attempt.faults if not (line.arrived and line.at > until))
    endings = tuple(line for line in attempt.endings if not (line.arrived and line.at > until))
    if (len(faults), len(endings)) == (len(attempt.faults), len(attempt.endings)):
        return state, None
    later = next((line for line in attempt.faults if line not in faults), None)
    return replace(state, attempt=replace(attempt, faults=faults, endings=endings)), later


def is_proven(state: State, server: Server) -> bool:
    """Tell whether the place in the log was passed that was written down as the one where this process begins."""
    known = state.server
    return state.log.is_own and known is not None and (known.pid, known.start) == (server.pid, server.start)


def _skews(launched: float, began: float, until: float, utc_offset: float) -> list[float]:
    """Return what the stamps may lack if a launch was printed between two moments."""
    first, last = math.ceil((began - launched) / _QUARTER), math.floor((until - launched) / _QUARTER)
    first = max(first, math.ceil((utc_offset - _EAST) / _QUARTER))
    last = min(last, math.floor((utc_offset - _WEST) / _QUARTER))
    return [count * _QUARTER for count in range(first, last + 1)]


def _fits(attempt: Attempt, skew: float, began: float, until: float) -> bool:
    """Tell whether the last line of the attempt was printed within the process's life, too: it may have arrived."""
    last = attempt.last_line_at
    return last is None or began <= last <= until or last + skew <= until
