"""What one look proves, and what it does not."""

from __future__ import annotations

from timeline import ROOT, Timeline, loading, serving

from bringup.core.arrival import without_arrival, without_newcomers
from bringup.core.events import Searching


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
    for _ in range(20):
        line.wait(1).sample()
    assert line.verdict().state == "stalled"


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
