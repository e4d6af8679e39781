"""Many events at once: what a chunk of a busy log holds is mostly decode lines, of which only the newest count."""

from __future__ import annotations

from collections.abc import Iterable

from bringup.core.events import Decoded, Event
from bringup.core.lines import ACCEPT_LINES
from bringup.core.reduce import reduce
from bringup.core.state import State


def fold(state: State, events: Iterable[Event]) -> State:
    """Return the state after all events, the same as by `reduce` one by one apart from when a rank was heard last.

    A rank that printed a decode line that is passed over here is named by the LinesRead of its chunk.
    """
    for event in thin(list(events)):
        state = reduce(state, event)
    return state


def thin(events: list[Event]) -> list[Event]:
    """Leave out the decode lines that the state would forget again before the end of `events`."""
    kept: list[Event] = []
    left = ACCEPT_LINES
    for event in reversed(events):
        if type(event) is Decoded and event.accept_len is not None and event.running != 0:
            if left == 0:
                continue
            left -= 1
        kept.append(event)
    kept.reverse()
    return kept
