"""Decode lines that the state would forget are passed over, and nothing else is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.core.events import Decoded, Event, LinesRead, PhaseBegan, Reached
from bringup.core.fold import fold, thin
from bringup.core.lines import ACCEPT_LINES
from bringup.core.reduce import reduce
from bringup.core.state import State

lengths = st.one_of(st.none(), st.floats(1.0, 4.0))
decoded = st.builds(
    lambda length, running: Decoded(at=1.0, accept_len=length, running=running), lengths, st.integers(0, 2)
)
others: st.SearchStrategy[Event] = st.sampled_from(
    [
        Reached(at=1.0, milestone="ready"),
        PhaseBegan(at=1.0, phase="weights"),
        LinesRead(at=1.0, size=9, lines=1, unknown=0),
    ]
)


@settings(max_examples=60)
@given(st.lists(st.one_of(decoded, others), max_size=60))
def test_the_accept_lengths_and_all_else_are_those_of_one_by_one(events: list[Event]) -> None:
    slow = State()
    for event in events:
        slow = reduce(slow, event)
    fast = fold(State(), events)
    assert fast.attempt.accept_lens == slow.attempt.accept_lens
    assert fast.attempt.reached == slow.attempt.reached
    assert fast.log == slow.log


def test_only_the_newest_decode_lines_are_folded() -> None:
    many: list[Event] = [Decoded(at=1.0, accept_len=float(n), running=1) for n in range(1, 500)]
    assert thin(many) == many[-ACCEPT_LINES:]
