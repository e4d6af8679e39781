"""What one look proves, and what it does not."""

from __future__ import annotations

from timeline import ROOT, Timeline, loading, serving

from bringup.core.arrival import without_arrival, without_newcomers
from bringup.core.assess import assess
from bringup.core.events import Searching
from bringup.engines.patience import load_policy


def test_one_sample_in_state_d_is_no_stall_and_a_second_of_them_neither() -> None:
    line = loading(2).spawn(2).wait(1).sample()
    for _ in range(60):
        line.wait(1).fault_in(0).sample()
    for _ in range(3):
        verdict = line.change(1, state="D", wchan="path_openat").wait(1).fault_in(0).sample().verdict()
        assert verdict.state != "stalled"
    for _ in range(4):
        line.wait(1).fault_in(0).sample()
    assert line.verdict().failed_ranks == (1,)


def test_one_sample_in_state_t_is_no_proof() -> None:
    line = loading(2).spawn(2).wait(60).fault_in(0).sample().change(1, state="T").wait(1).fault_in(0).sample()
    assert line.verdict().state != "stalled"
    for _ in range(3):
        line.wait(1).fault_in(0).sample()
    verdict = line.verdict()
    assert (verdict.state, verdict.failed_ranks) == ("stalled", (1,))


def test_a_server_that_was_silent_before_we_came_is_stalled_soon_after_not_minutes_after() -> None:
    line = loading(2).wait(3000).spawn(2)
    assert line.verdict().state != "stalled"
    for _ in range(59):
        line.wait(1).sample()
        assert line.verdict().state != "stalled"
    verdict = line.wait(1).sample().verdict()
    assert verdict.state == "stalled"
    assert "the log has been silent for 51 min, and nothing moved in the 1 min watched" in verdict.summary


def test_storage_that_gives_something_every_20_seconds_is_no_stall_for_whoever_comes_in_between() -> None:
    line = loading(8).wait(250).spawn(8)
    for rank in range(8):
        line.change(rank, state="D", wchan="rpc_wait_bit_killable")
    for second in range(1, 300):
        for rank in range(8 if second % 20 == 0 else 0):
            line.fault_in(rank)
        line.wait(1).sample()
        assert line.verdict().state != "stalled", second
        one_look = assess(without_arrival(line.state), line.now, line.policy)
        assert one_look.state != "stalled", second


def test_one_look_calls_a_stall_when_the_log_is_older_than_twice_the_patience() -> None:
    patience = load_policy().patience["weights"].stalled
    for age, state in ((1.5 * patience, "slow"), (2.5 * patience, "stalled")):
        line = loading(2).wait(age).spawn(2).wait(1).sample()
        verdict = assess(without_arrival(line.state), line.now, line.policy)
        assert verdict.state == state
        assert "log has been silent" in verdict.summary.lower()


def test_one_look_at_a_rank_that_works_is_no_stall_however_old_the_log_is() -> None:
    line = loading(2).wait(5000).spawn(2).wait(1).fault_in(1).sample()
    assert assess(without_arrival(line.state), line.now, line.policy).state == "starting"


def test_a_launcher_that_was_stopped_before_we_came_is_named_by_one_look() -> None:
    line = loading(2).spawn(2).change(None, state="T").sample().wait(1).sample()
    verdict = assess(without_arrival(line.state), line.now, line.policy)
    assert (verdict.state, verdict.hang) == ("stalled", "stopped")


def test_before_a_second_sample_nothing_is_taken_away() -> None:
    line = loading(2).spawn(2)
    assert without_arrival(line.state) is line.state
    assert without_newcomers(line.state, 15.0) is line.state


def test_after_a_change_of_server_the_arrival_is_another() -> None:
    line = Timeline().found().launch(tp=2).spawn(2).wait(50).sample()
    first = line.state.arrived_at
    line.found(pid=ROOT + 900).wait(1)
    assert line.state.arrived_at is None
    assert first is not None


def test_a_ready_line_without_any_process_is_not_ready() -> None:
    line = serving(2)
    assert line.verdict().state == "ready"
    line.add(Searching(at=line.now, seeks="Looking for a launcher."))
    verdict = line.verdict()
    assert verdict.state == "unknown"
    assert "no process of it is found" in verdict.summary
