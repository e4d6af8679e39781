from dataclasses import replace

import pytest
from timeline import Timeline, loading

from bringup.core.eta import history_key
from bringup.core.words import duration, left


def stepping(line: Timeline, first: int, last: int, total: int, each: float) -> Timeline:
    for done in range(first, last + 1):
        line.wait(each).bar(done, total)
    return line


def test_steady_steps_give_a_range_around_the_truth():
    low, high = stepping(loading(1), 1, 20, 64, 2.0).verdict(0.5).eta_s or (0, 0)
    assert low < 88 < high
    assert high < 2 * low


def test_a_steady_slow_volume_is_told_in_minutes():
    verdict = stepping(loading(8), 1, 30, 163, 23.0).verdict(10)
    low, high = verdict.eta_s or (0, 0)
    assert low < 133 * 23 < high
    assert "min left" in verdict.summary


def test_a_burst_then_nothing_is_no_basis():
    line = stepping(loading(8), 1, 25, 64, 0.04)
    assert line.wait(20).bar(25, 64).verdict(5).eta_s is None


def test_after_a_burst_only_the_new_steps_count():
    line = stepping(stepping(loading(1), 1, 25, 64, 0.04), 26, 30, 64, 20.0)
    low, high = line.verdict(1).eta_s or (0, 0)
    assert low < 34 * 20 < high


def test_a_stop_in_the_middle_does_not_spoil_what_follows():
    line = stepping(loading(1), 1, 3, 24, 0.3).wait(20)
    low, high = stepping(line, 4, 12, 24, 0.2).verdict(0.1).eta_s or (0, 99)
    assert low < 2.4 < high < 10


@pytest.mark.parametrize("done", [0, 1, 2])
def test_few_steps_are_no_basis(done):
    assert stepping(loading(1), 0, done, 24, 1.0).verdict().eta_s is None


def test_a_full_bar_has_nothing_left_to_say():
    assert stepping(loading(1), 1, 24, 24, 1.0).verdict(5).eta_s is None


def test_the_slowest_rank_decides_and_not_the_bar_of_rank_0():
    line = loading(8).spawn(8)
    for number in range(1, 62):
        line.wait(1).bar(number, 64)
        for rank in range(8):
            line.map(rank, number if rank != 5 else 1 + number // 2)
        line.sample()
    verdict = line.verdict(1)
    low, high = verdict.eta_s or (0, 0)
    assert low < (64 - 31) * 2 < high, "not the three seconds that rank 0 still takes"
    assert "TP5" in verdict.eta_basis


def test_a_rank_that_stands_still_is_no_basis_for_a_time():
    line = loading(8).spawn(8)
    for number in range(1, 30):
        line.wait(1).map(5, number).sample()
    assert line.verdict(1).eta_s is not None
    for _ in range(4):
        line.wait(5).sample()
    assert line.verdict(1).eta_s is None


def test_nothing_is_foretold_of_an_end():
    line = stepping(loading(1), 1, 12, 24, 1.0)
    assert line.verdict().eta_s is not None
    assert line.fault("oom", rank=0).verdict().eta_s is None


def history(line: Timeline, **phases: tuple[float, ...]) -> Timeline:
    return replace(line, policy=replace(line.policy, history=phases))


def test_earlier_starts_tell_what_comes_after_the_bar():
    line = stepping(history(loading(1), weights=(60.0,), graphs=(30.0, 40.0), warmup=(5.0,)), 1, 12, 24, 1.0)
    verdict = line.verdict()
    low, high = verdict.eta_s or (0, 0)
    assert 35 < low < 12 + 30 + 5 < high < 75
    assert "earlier start" in verdict.eta_basis


def test_earlier_starts_tell_of_a_phase_without_a_bar():
    line = history(Timeline().launch(tp=2), launch=(40.0, 44.0), weights=(20.0,))
    low, high = line.wait(10).verdict().eta_s or (0, 0)
    assert low < 52 < high


def test_a_phase_that_overran_its_history_adds_nothing():
    line = history(loading(1), weights=(10.0,), warmup=(5.0,)).wait(500)
    assert (line.bytes().verdict().eta_s or (0, 99))[1] < 7


def test_phases_are_kept_by_name_model_and_part():
    assert history_key("graphs", "target", "verify") == "graphs/target/verify"
    assert history_key("launch", None) == "launch"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (60, "1 min"), (252, "4 min 12 s"), (3600, "1 h"), (7500, "2 h 5 min")],
)
def test_durations_in_words(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1, 4, "under 10 s"),
        (3, 14, "up to 15 s"),
        (21, 38, "about 20-40 s"),
        (61, 200, "about 1-4 min"),
        (20, 200, "up to 4 min"),
        (3600, 9000, "about 1.0-2.5 h"),
    ],
)
def test_a_range_is_never_finer_than_known(low, high, text):
    assert left(low, high) == text
