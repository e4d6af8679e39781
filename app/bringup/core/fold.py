"""Many events at once: what a chunk of a busy log holds is mostly decode lines, of which only the newest count."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from bringup.core.events import Decoded, Event
from bringup.core.lines import ACCEPT_LINES
from bringup.core.reduce import decode_lines, reduce
from bringup.core.state import State


def fold(state: State, events: Iterable[Event]) -> State:
    """Return the state after all events, the same as by `reduce` one by one apart from when a rank was heard last.

    A rank that printed a decode line that is passed over here is named by the LinesRead of its chunk.
    """
    for is_decoded, group in groupby(thin(list(events)), key=lambda event: isinstance(event, Decoded)):
        if is_decoded:
            state = decode_lines(state, [event for event in group if isinstance(event, Decoded)])
        else:
            for event in group:
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
