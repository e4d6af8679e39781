from dataclasses import replace

import pytest
from timeline import Timeline, loading

from bringup.core.earlier import durations
from bringup.core.events import Warned
from bringup.core.policy import PastPhase, PastStart
from bringup.core.verdict import Verdict
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


def past(*phases: tuple[str, float], gap: float = 0.0) -> PastStart:
    """An earlier start: phases one after the other."""
    rows, at = [], 0.0
    for key, seconds in phases:
        rows.append(PastPhase(key, at, seconds))
        at += seconds + gap
    return PastStart(tuple(rows), at - gap)


def knowing(line: Timeline, *earlier: PastStart) -> Timeline:
    return replace(line, policy=replace(line.policy, earlier=earlier, history=durations(earlier)))


LAUNCH, WEIGHTS, GRAPHS, WARMUP = "launch", "weights", "graphs/decode", "warmup"
USUAL = past((LAUNCH, 20.0), ("distributed", 5.0), (WEIGHTS, 60.0), (GRAPHS, 30.0), (WARMUP, 5.0), gap=1.0)


def range_of(verdict: Verdict) -> tuple[float, float]:
    assert verdict.eta_s is not None
    return verdict.eta_s


def test_without_earlier_starts_no_time_until_ready_is_promised():
    verdict = stepping(loading(1), 1, 12, 24, 1.0).verdict()
    assert range_of(verdict)[1] < 20
    assert "left in this phase" in verdict.summary
    assert "until it is ready" not in verdict.summary
    assert verdict.eta_basis.endswith("for the weights only; then the graphs and the warm-up follow")


def test_what_comes_after_is_named_as_far_as_it_is_known():
    line = stepping(loading(1, draft_model="/models/draft", algorithm="EAGLE3"), 1, 12, 24, 1.0)
    assert "for the weights of the target only; then the draft's weights, the graphs and" in line.verdict().eta_basis
    line = stepping(loading(1), 1, 12, 24, 1.0)
    line.add(Warned(at=line.now, kind="graphs-disabled", detail="CUDA graphs are off"))
    assert line.verdict().eta_basis.endswith("; then the warm-up follows")


def test_earlier_starts_tell_what_comes_after_the_bar():
    verdict = stepping(knowing(loading(1), USUAL), 1, 12, 24, 1.0).verdict()
    low, high = range_of(verdict)
    assert 35 < low < 12 + 1 + 30 + 1 + 5 < high < 75
    assert "until it is ready" in verdict.summary
    assert verdict.eta_basis == "from the last 11 steps of the bar; what follows by the last start: 2 min 4 s"


def test_earlier_starts_tell_of_a_phase_without_a_bar():
    faster = past((LAUNCH, 44.0), (WEIGHTS, 20.0))
    line = knowing(Timeline().launch(tp=2), past((LAUNCH, 40.0), (WEIGHTS, 20.0)), faster)
    verdict = line.wait(10).verdict()
    low, high = range_of(verdict)
    assert low < 50 < 54 < high < 70
    assert verdict.eta_basis == "last two starts: 60-64 s"


def test_between_two_phases_the_gap_counts():
    line = knowing(loading(1), USUAL).wait(58).end("weights", [0], model_class="LlamaForCausalLM")
    low, high = range_of(line.verdict(0.5))
    assert low < 0.5 + 30 + 1 + 5 < high < 55


def test_a_phase_that_took_longer_than_ever_leaves_nothing_to_go_by():
    line = knowing(loading(1), USUAL, USUAL).wait(65).bytes()
    assert range_of(line.verdict())[0] > 20, "a little over is no reason to give up"
    verdict = line.wait(40).bytes().verdict()
    assert verdict.eta_s is None
    assert verdict.eta_basis == "the weights phase has taken longer than ever before (1 min)"


def test_a_phase_that_is_over_counts_no_more_however_long_it_took():
    line = knowing(loading(1), USUAL).wait(500).end("weights", [0], model_class="LlamaForCausalLM")
    line.begin("graphs", [0], role="target", part="decode").wait(10)
    low, high = range_of(line.verdict())
    assert low < 20 + 1 + 5 < high


def test_a_download_of_the_first_start_is_not_waited_for_again():
    first = past((LAUNCH, 20.0), ("download", 900.0), ("distributed", 5.0), (WEIGHTS, 60.0), (WARMUP, 5.0))
    verdict = stepping(knowing(loading(1), first), 1, 12, 24, 1.0).verdict()
    assert range_of(verdict)[1] < 60


def test_a_phase_that_no_earlier_start_had_is_no_basis():
    line = knowing(loading(1), USUAL).wait(60).end("weights", [0], model_class="LlamaForCausalLM")
    assert line.begin("compile", [0], role="target").wait(5).verdict().eta_s is None


def test_a_start_from_a_cold_cache_widens_what_is_still_to_be_read():
    two = past((LAUNCH, 20.0), ("distributed", 5.0), ("weights/target", 60.0), ("weights/draft", 60.0), (WARMUP, 5.0))
    draft = {"draft_model": "/models/draft", "algorithm": "EAGLE3"}

    def when(took: float) -> Verdict:
        line = knowing(loading(1, **draft), two, two, two).wait(took)
        line.end("weights", [0], role="target", model_class="LlamaForCausalLM").wait(1)
        return line.begin("weights", [0], role="draft").wait(1).verdict()

    warm, cold = when(60), when(240)
    assert range_of(warm)[1] < 80
    assert range_of(cold)[0] < 64 < 240 < range_of(cold)[1]
    assert cold.eta_basis == "last three starts: 2 min 30 s, this one 4.0 times slower so far"
    assert "slower" not in warm.eta_basis


def test_an_own_pace_four_times_slower_is_believed_over_history():
    verdict = stepping(knowing(loading(1), USUAL, USUAL), 1, 12, 60, 4.0).verdict()
    low, high = range_of(verdict)
    assert low < 48 * 4 + 37 < high
    assert low > 150
    assert "this one 4." in verdict.eta_basis


def test_the_ghosts_are_the_phases_of_the_newest_start():
    other = past((LAUNCH, 10.0), ("download", 100.0), (WEIGHTS, 50.0))
    ghosts = dict(knowing(loading(1), other, USUAL).verdict().ghosts)
    assert ghosts == {LAUNCH: 20.0, "distributed": 5.0, WEIGHTS: 60.0, GRAPHS: 30.0, WARMUP: 5.0}
    assert durations((other, USUAL))[WEIGHTS] == (50.0, 60.0)


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
