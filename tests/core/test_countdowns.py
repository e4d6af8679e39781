"""Each time limit: when it begins, for whom it waits, what shortens it, and where it says nothing."""

import pytest
from timeline import Timeline, loading

from bringup.core.events import Fact, PhaseBegan, PhaseEnded


def version(line: Timeline, number: str) -> Timeline:
    return line.add(Fact(at=line.now, name="version", value=number))


# --- the load barrier ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "limit"), [("0.4.9", 300), ("0.5.5.post3", 300), ("0.5.6", 480), ("0.5.23", 480)])
def test_the_load_barrier_depends_on_the_version(number: str, limit: float):
    line = version(loading(4), number).wait(30).end("weights", [0, 1], seconds=30.0)
    found = line.verdict(60).countdown
    assert found is not None
    assert (found.name, found.limit_s, found.left_s, found.waits_for) == ("the load barrier", limit, limit - 60, (2, 3))


def test_before_0_4_4_there_is_no_barrier():
    assert version(loading(4), "0.4.3").end("weights", [0, 1]).verdict(60).countdown is None


def test_with_an_unknown_version_the_longer_one_counts_and_says_so():
    found = loading(4).end("weights", [0, 1]).verdict(60).countdown
    assert found is not None
    assert (found.limit_s, found.note) == (480, "300 s before SGLang 0.5.6")


def test_nobody_waits_before_the_first_or_behind_the_last():
    line = loading(4)
    assert line.verdict(500).countdown is None
    assert line.end("weights", [0, 1, 2, 3]).verdict(100).countdown is None


def test_each_tensor_parallel_group_has_a_barrier_of_its_own():
    line = Timeline().launch(tp=2, pp=2)
    first, second, third, fourth = [(("pp", stage), ("tp", rank)) for stage in (0, 1) for rank in (0, 1)]
    for labels in (first, second, third, fourth):
        line.add(PhaseBegan(at=line.now, labels=labels, phase="weights"))
    for labels in (first, second):
        line.add(PhaseEnded(at=line.now, labels=labels, phase="weights"))
    assert line.wait(100).verdict().countdown is None
    line.add(PhaseEnded(at=line.now, labels=fourth, phase="weights"))
    found = line.verdict(10).countdown
    assert found is not None
    assert (found.left_s, found.waits_for) == (470, (2,))


def test_one_that_should_have_ended_the_start_is_not_the_one_that_holds():
    line = loading(4).end("weights", [0, 1, 2])
    assert line.verdict(490).countdown is not None
    assert "gives up now" in line.verdict(490).summary
    assert line.verdict(500).countdown is None


def test_the_sentence_says_it_when_less_than_half_is_left_or_the_start_is_slow():
    line = loading(2).spawn(2).end("weights", [0])
    for _ in range(300):
        line.wait(1).fault_in(1).sample()
        verdict = line.verdict()
        said = "load barrier gives up in" in verdict.summary
        assert said == (verdict.state == "slow" or line.t > 26 + 240)
    assert any(
        text.startswith("time limit: the load barrier waits for TP1 and gives up in 3 min") for text in verdict.evidence
    )


def test_a_stall_says_what_will_end_it():
    verdict = loading(2).spawn(2).end("weights", [0]).wait(245).sample().verdict()
    assert verdict.state == "stalled"
    assert verdict.summary.endswith(" The load barrier gives up in 3 min 55 s.")


# --- torch --------------------------------------------------------------------------------------------------


def connecting(**launch: object) -> Timeline:
    return Timeline().launch(tp=4, **launch).begin("distributed", [0, 1, 3])


def test_the_process_group_waits_ten_minutes_with_gpus_and_thirty_without():
    line = connecting()
    without = line.verdict(100).countdown
    with_gpus = line.gpus(0, 0, 0, 0).verdict(100).countdown
    assert without is not None
    assert with_gpus is not None
    assert (without.limit_s, with_gpus.limit_s) == (1800, 600)
    assert with_gpus.waits_for == (2,)
    assert with_gpus.name == "torch's process group"


def test_after_ten_minutes_it_is_the_thirty():
    found = connecting().gpus(0, 0, 0, 0).verdict(700).countdown
    assert found is not None
    assert found.limit_s == 1800


def test_an_argument_replaces_it():
    found = connecting(dist_timeout=7200.0).verdict(100).countdown
    assert found is not None
    assert (found.limit_s, found.note) == (7200, "")


def test_one_rank_alone_waits_for_nobody():
    assert Timeline().launch(tp=1).begin("distributed", [0]).verdict(60).countdown is None


# --- warm-up, watchdog, hand-shake --------------------------------------------------------------------------


def warming(**launch: object) -> Timeline:
    line = loading(1, **launch).end("weights", [0]).reached("scheduler-up").wait(1)
    return line.reached("http-up")


def test_in_the_warm_up_the_watchdog_is_the_first_to_give_up_and_every_line_renews_it():
    line = warming()
    found = line.verdict(200).countdown
    assert found is not None
    assert (found.name, found.left_s) == ("the scheduler's watchdog", 100)
    line.wait(200).add(Fact(at=line.now, name="seen", value="prefill"))
    renewed = line.verdict(10).countdown
    assert renewed is not None
    assert renewed.left_s == 290


def test_the_warm_up_request_is_first_where_the_watchdog_was_given_more_time():
    found = warming(watchdog_timeout=3600.0).verdict(200).countdown
    assert found is not None
    assert (found.name, found.left_s) == ("the warm-up request", 400)


def test_a_prefill_server_has_longer():
    found = warming(watchdog_timeout=3600.0).reached("warmup-sent").verdict(200).countdown
    assert found is not None
    assert (found.name, found.left_s) == ("the warm-up request", 1600)


def test_several_http_servers_of_vllm_do_not_wait_for_ever():
    alone = Timeline().launch(engine="vllm", tp=2).begin("weights", [0])
    assert alone.verdict(60).countdown is None
    apart = Timeline().launch(engine="vllm", tp=2, servers=2).begin("weights", [0])
    found = apart.verdict(60).countdown
    assert found is not None
    assert (found.name, found.left_s) == ("the HTTP servers' wait for the engine", 540)


def test_nothing_runs_when_it_serves_or_has_failed():
    line = warming().reached("ready")
    assert line.verdict(60).countdown is None
    assert warming().fault("oom").verdict(60).countdown is None


def test_the_one_that_ends_first_is_shown():
    line = Timeline().launch(engine="vllm", tp=2, servers=2).wait(400).begin("distributed", [0])
    found = line.gpus(0, 0).verdict(0).countdown
    assert found is not None
    assert (found.name, found.left_s) == ("the HTTP servers' wait for the engine", 200)
