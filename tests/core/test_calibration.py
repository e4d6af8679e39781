"""How often the true time lies within the range that is told: synthetic loads and starts, asked again and again.

`python tests/core/test_calibration.py` prints the table.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from bringup.core.bars import STEPS
from bringup.core.earlier import Now, rest
from bringup.core.pace import bar_left
from bringup.core.policy import PastPhase, PastStart
from bringup.core.state import BarState
from bringup.core.verdict import PhaseView

TOTAL = 64
SEEDS = 40
ASKED = 40
"""Moments of one load, evenly spread."""
Load = Callable[[random.Random], Iterator[float]]


def steady(chance: random.Random) -> Iterator[float]:
    each = chance.uniform(0.5, 20)
    for _ in range(TOTAL):
        yield each * chance.uniform(0.8, 1.2)


def ragged(chance: random.Random) -> Iterator[float]:
    each = chance.uniform(0.5, 20)
    for _ in range(TOTAL):
        yield each * chance.lognormvariate(0, 0.5)


def warm_then_cold(chance: random.Random) -> Iterator[float]:
    each, warm = chance.uniform(4, 25), chance.randint(8, 40)
    for step in range(TOTAL):
        yield (0.04 if step < warm else each) * chance.uniform(0.8, 1.2)


def lukewarm_then_cold(chance: random.Random) -> Iterator[float]:
    each, warm = chance.uniform(1, 10), chance.randint(8, 40)
    for step in range(TOTAL):
        yield (each / 4 if step < warm else each) * chance.uniform(0.8, 1.2)


def collapse(chance: random.Random) -> Iterator[float]:
    each, at, times = chance.uniform(0.5, 3), chance.randint(8, 48), chance.uniform(5, 30)
    for step in range(TOTAL):
        yield each * (1 if step < at else times) * chance.uniform(0.8, 1.2)


def staircase(chance: random.Random) -> Iterator[float]:
    width, long = chance.choice([2, 4, 8]), chance.uniform(5, 40)
    for step in range(TOTAL):
        yield (long if step % width == 0 else 0.2) * chance.uniform(0.8, 1.2)


def one_stop(chance: random.Random) -> Iterator[float]:
    each, at = chance.uniform(0.5, 5), chance.randint(4, 50)
    for step in range(TOTAL):
        yield (each if step != at else each * 40) * chance.uniform(0.8, 1.2)


@dataclass(frozen=True)
class Calibration:
    """How often a range was told, held the truth, and by how much it was wide."""

    asked: int
    told: int
    held: int
    width: float
    """Median of high / low."""

    @property
    def share(self) -> float:
        return self.held / max(1, self.told)


def measure(load: Load) -> Calibration:
    asked = told = held = 0
    widths = []
    for seed in range(SEEDS):
        times = [0.0]
        for seconds in load(random.Random(seed)):
            times.append(times[-1] + seconds)
        for index in range(1, ASKED):
            now = times[-1] * index / ASKED
            asked += 1
            left = bar_left(bar_at(times, now), now)
            if left is not None:
                told += 1
                held += left.low <= times[-1] - now <= left.high
                widths.append(left.high / max(left.low, 0.1))
    return Calibration(asked, told, held, sorted(widths)[len(widths) // 2])


def bar_at(times: list[float], now: float) -> BarState:
    """The bar of a load at a moment; it begins at 0."""
    steps = tuple((at, done) for done, at in enumerate(times) if at <= now)[-STEPS:]
    at, done = steps[-1]
    return BarState("shards", "weights", "target", done, TOTAL, "", at, at, steps)


@pytest.mark.parametrize(
    ("load", "share", "told"),
    [
        (steady, 0.97, 0.9),
        (ragged, 0.85, 0.9),
        (warm_then_cold, 0.9, 0.8),
        (lukewarm_then_cold, 0.75, 0.9),
        (collapse, 0.8, 0.7),
        (staircase, 0.85, 0.6),
        # Nobody foresees the stop: what was told before it did not hold, and during it nothing is told.
        (one_stop, 0.5, 0.5),
    ],
)
def test_the_true_time_lies_within_the_range(load: Load, share: float, told: float) -> None:
    found = measure(load)
    assert found.share >= share, found
    assert found.told / found.asked >= told, found


PHASES = (
    ("launch", 30.0),
    ("distributed", 6.0),
    ("weights", 120.0),
    ("kv-cache", 2.0),
    ("graphs", 45.0),
    ("warmup", 6.0),
)
Times = dict[str, float]


def whole(chance: random.Random, spread: float, slower: Times) -> PastStart:
    """A start whose phases vary from one to the next, with a gap after each."""
    rows, at = [], 0.0
    for key, seconds in PHASES:
        took = seconds * chance.lognormvariate(0, spread) * slower.get(key, 1.0)
        rows.append(PastPhase(key, at, took))
        at += took + chance.uniform(0.2, 2.0)
    return PastStart(tuple(rows), at)


def at_moment(start: PastStart, now: float) -> Now:
    """What is seen of a start after so many seconds; the bar of the weights tells of itself after a twentieth."""
    views = tuple(
        PhaseView(row.key, None, row.began, min(row.seconds, now - row.began), row.ended <= now)  # type: ignore[arg-type]
        for row in start.phases
        if row.began <= now
    )
    current = next((view for view in views if not view.ended), None)
    weights = start.phase("weights")
    if current is None or weights is None or current.phase != "weights" or current.seconds < weights.seconds / 20:
        return Now(views, current, now)
    true = weights.ended - now
    return Now(views, current, now, (true * 0.85, true * 1.15 + 1))


def measure_starts(earlier: int, spread: float, slower: Times) -> Calibration:
    asked = told = held = 0
    widths = []
    for seed in range(SEEDS):
        chance = random.Random(seed)
        known = [whole(chance, spread, {}) for _ in range(earlier)]
        this = whole(chance, spread, slower)
        for index in range(1, ASKED):
            now = this.total * index / ASKED
            asked += 1
            found = rest(at_moment(this, now), known)
            if found is not None and not found.why_not:
                told += 1
                held += found.low <= this.total - now <= found.high
                widths.append(found.high / max(found.low, 0.1))
    return Calibration(asked, told, held, sorted(widths)[len(widths) // 2])


@pytest.mark.parametrize(
    ("earlier", "spread", "slower", "share", "told"),
    [
        (1, 0.08, {}, 0.85, 0.95),
        (3, 0.08, {}, 0.9, 0.95),
        (5, 0.15, {}, 0.9, 0.95),
        (3, 0.08, {"weights": 4.0, "launch": 2.0}, 0.85, 0.95),
        # Until the bar of the weights moves, nothing says that they will be fast this time.
        (3, 0.08, {"weights": 0.2}, 0.6, 0.95),
    ],
)
def test_earlier_starts_hold_the_true_time(
    earlier: int, spread: float, slower: Times, share: float, told: float
) -> None:
    found = measure_starts(earlier, spread, slower)
    assert found.share >= share, found
    assert found.told / found.asked >= told, found


def show(name: str, seen: Calibration) -> None:
    print(f"{name:20} told {seen.told / seen.asked:4.0%}  held {seen.share:4.0%}  high/low {seen.width:.1f}")


if __name__ == "__main__":
    for each in (steady, ragged, warm_then_cold, lukewarm_then_cold, collapse, staircase, one_stop):
        show(each.__name__, measure(each))
    for count, vary in ((1, 0.08), (3, 0.08), (5, 0.15)):
        show(f"{count} earlier starts", measure_starts(count, vary, {}))
    show("cold after three", measure_starts(3, 0.08, {"weights": 4.0, "launch": 2.0}))
    show("warm after three", measure_starts(3, 0.08, {"weights": 0.2}))
