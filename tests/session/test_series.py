"""The samples of a start: one a second, few, and of one start only."""

from __future__ import annotations

from dataclasses import replace

from report.pages import START, WAITING, spans, view

from bringup.core.events import Gpu, Server
from bringup.core.state import Attempt, GpuChannel, State
from bringup.core.verdict import Verdict
from bringup.session.series import Series

LOADING = replace(WAITING, state="starting", phase="weights", since=START)


def at(second: float, share: float = 0.5) -> Verdict:
    return replace(LOADING, now=START + second, ranks=(view(0, progress=share), view(1)))


def test_one_a_second() -> None:
    series = Series()
    for tenth in range(35):
        series.add(State(), at(tenth / 10, tenth / 100))
    assert [point.at - START for point in series.points] == [0, 1, 2, 3]
    assert [point.ranks[0].share for point in series.points] == [0.0, 0.1, 0.2, 0.3]
    assert series.points[0].ranks[1].share is None


def test_what_lasted_takes_the_place_of_what_came_just_before() -> None:
    series = Series()
    series.add(State(), at(0, 0.1))
    series.add(State(), at(0.5, 0.9), last=True)
    series.add(State(), at(0.2, 0.3), last=True)
    assert [(point.at - START, point.ranks[0].share) for point in series.points] == [(0.5, 0.9)]


def test_a_long_start_is_thinned_and_reaches_from_its_begin_to_its_end() -> None:
    series = Series(most=10)
    for second in range(1000):
        series.add(State(), at(second))
    times = [point.at - START for point in series.points]
    assert 5 <= len(times) <= 10
    assert times == sorted(times)
    assert times[0] < 130
    assert times[-1] > 870


def test_the_memory_of_the_gpus_that_tell_it() -> None:
    series = Series()
    series.add(State(gpu=GpuChannel(gpus=(Gpu(0, used=10), Gpu(1)))), at(0))
    assert series.points[0].gpus == ((0, 10),)


def test_another_start_begins_anew() -> None:
    series = Series()
    first, second = (Server(pid, 1, "sglang", ()) for pid in (10, 20))
    series.add(State(), at(0))
    series.add(State(server=first), at(1))
    assert len(series.points) == 2, "the same start, found later"
    series.add(State(server=second), at(2))
    assert [point.at - START for point in series.points] == [2]
    series.add(State(server=second, attempt=Attempt(number=2)), at(3))
    assert [point.at - START for point in series.points] == [3]


def test_long_serving_is_no_start_any_more() -> None:
    series = Series()
    for second in range(400, 700, 10):
        phases = spans(("launch", None, 400, True), ("serving", None, second - 400, False))
        series.add(State(), replace(at(second), state="ready", phase="serving", phases=phases))
    assert series.points[-1].at - START == 500
