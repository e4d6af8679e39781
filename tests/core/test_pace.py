"""What a bar's own steps leave of its phase: properties that hold for every bar."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bringup.core.bars import STEPS
from bringup.core.earlier import Now, history_key, rest
from bringup.core.pace import bar_left, slowed_down
from bringup.core.policy import PastPhase, PastStart
from bringup.core.state import BarState
from bringup.core.verdict import PhaseView

SECONDS = st.floats(0, 1e5, allow_nan=False)
MOVES = st.lists(st.tuples(SECONDS, st.integers(1, 9)), max_size=80)


def bar(moves: list[tuple[float, int]], total: int | None = None) -> BarState:
    """A bar that made these advances (seconds, items) from 0 on."""
    times = list(accumulate((seconds for seconds, _ in moves), initial=0.0))
    done = list(accumulate((items for _, items in moves), initial=0))
    steps = tuple(zip(times, done, strict=True))[-STEPS:]
    return BarState("shards", "weights", "target", done[-1], total or done[-1] + 20, "", times[-1], times[-1], steps)


def every(seconds: float, count: int, total: int = 64) -> BarState:
    return bar([(seconds, 1)] * count, total)


@given(MOVES, SECONDS)
def test_a_range_is_in_order_never_negative_and_a_number(moves: list[tuple[float, int]], waited: float) -> None:
    seen = bar(moves)
    left = bar_left(seen, seen.moved_at + waited)
    if left is not None:
        assert 0 <= left.low <= left.high
        assert math.isfinite(left.high)
        assert left.basis


@given(MOVES)
def test_a_clock_that_goes_back_does_no_harm(moves: list[tuple[float, int]]) -> None:
    seen = bar(moves)
    left = bar_left(seen, seen.moved_at - 1000)
    assert left is None or 0 <= left.low <= left.high


@given(st.floats(0.5, 100), st.integers(4, 60))
def test_it_shrinks_as_steady_steps_come(each: float, done: int) -> None:
    before, after = (bar_left(every(each, count), count * each) for count in (done, done + 1))
    assert before is not None
    assert after is not None
    assert after.high < before.high
    assert after.low < before.low
    assert after.high - after.low <= before.high - before.low


@given(st.floats(0.5, 100), st.integers(4, 60))
def test_waiting_brings_the_next_step_nearer(each: float, done: int) -> None:
    seen = every(each, done)
    now = bar_left(seen, seen.moved_at)
    later = bar_left(seen, seen.moved_at + each / 2)
    assert now is not None
    assert later is not None
    assert later.low <= now.low
    assert later.high <= now.high


@pytest.mark.parametrize(
    "seen",
    [bar([]), every(1.0, 1), every(1.0, 2), bar([(1.0, 1)] * 20, 20)],
    ids=["nothing", "one step", "two steps", "full"],
)
def test_without_a_basis_there_is_no_range(seen: BarState) -> None:
    assert bar_left(seen, seen.moved_at) is None


def test_a_wait_far_beyond_a_step_is_no_basis_any_more() -> None:
    seen = every(2.0, 20)
    assert bar_left(seen, seen.moved_at + 10) is not None
    assert bar_left(seen, seen.moved_at + 100) is None


def test_a_wait_beyond_a_few_steps_raises_the_upper_end() -> None:
    seen = every(2.0, 20)
    usual, long = bar_left(seen, seen.moved_at), bar_left(seen, seen.moved_at + 12)
    assert usual is not None
    assert long is not None
    assert long.high > 1.5 * usual.high


def test_bursts_are_counted_whole() -> None:
    burst = [(20.0, 1), (0.1, 1), (0.1, 1), (0.1, 1)]
    seen = bar(burst * 6, 64)
    left = bar_left(seen, seen.moved_at + 3)
    assert left is not None
    assert left.low < 10 * 20.3 - 3 < left.high < 300
    assert "bursts" in left.basis
    assert slowed_down(seen) is None, "the wait between two bursts is no collapse"


def test_items_that_came_together_are_as_many_steps() -> None:
    left = bar_left(bar([(8.0, 8)] * 4, 64), 32.0)
    assert left is not None
    assert left.low < 32 < left.high < 50


def test_a_collapse_is_seen_once_it_has_a_pace_of_its_own() -> None:
    seen = bar([(0.5, 1)] * 20 + [(20.0, 1)] * 3, 64)
    assert slowed_down(seen) == (20.0, 0.5)
    left = bar_left(seen, seen.moved_at)
    assert left is not None
    assert left.low < 41 * 20 < left.high


KEYS = ("launch", "distributed", "weights", "graphs", "warmup")
LENGTHS = st.lists(st.floats(0, 1e4), min_size=len(KEYS), max_size=len(KEYS))


def past(lengths: list[float]) -> PastStart:
    begins = list(accumulate(lengths, initial=0.0))
    rows = [PastPhase(key, at, took) for key, at, took in zip(KEYS, begins, lengths, strict=False)]
    return PastStart(tuple(rows), begins[-1])


@given(st.lists(LENGTHS, max_size=4), LENGTHS, st.integers(0, 4), SECONDS, st.none() | st.tuples(SECONDS, SECONDS))
def test_earlier_starts_give_a_range_in_order_or_a_reason(
    known: list[list[float]], lengths: list[float], phase: int, spent: float, own: tuple[float, float] | None
) -> None:
    this = past(lengths)
    views = [PhaseView(row.key, None, row.began, row.seconds, ended=True) for row in this.phases[:phase]]  # type: ignore[arg-type]
    at = this.phases[phase].began
    current = PhaseView(KEYS[phase], None, at, spent, ended=False)  # type: ignore[arg-type]
    left = None if own is None else (min(own), max(own))
    found = rest(Now((*views, current), current, at + spent, left), [past(times) for times in known])
    if not known:
        assert found is None
    else:
        assert found is not None
        assert found.why_not or 0 <= found.low <= found.high < math.inf
        assert not (found.why_not and left is not None), "the own pace is always something to go by"


def test_phases_are_kept_by_name_model_and_part() -> None:
    assert history_key("graphs", "target", "verify") == "graphs/target/verify"
    assert history_key("launch", None) == "launch"
