"""Whose launch a log tells of, where its stamps are in another zone than the host's."""

from __future__ import annotations

import pytest
from timeline import ROOT, START, Timeline

from bringup.core.events import Fault, HostSeen, Launch, LinesRead, LogBegan, LogWritten, ServerGone

HOUR = 3600.0
ZONES = [-12.0, -5.0, -4.0, -3.5, 1.0, 5.75, 9.0, 14.0]


def read(line: Timeline, launched: float, failed: float, until: float) -> Timeline:
    """Read a log that was there: its stamps in seconds after the process's start, and when it was last written to."""
    at = START + launched
    line.add(Launch(at=at, stamp=at, engine="sglang", model="/m", tp=2, line=1))
    at = START + failed
    line.add(Fault(at=at, stamp=at, kind="oom", text="CUDA out of memory", line=9))
    line.add(LinesRead(at=at, stamp=at, size=900, lines=9, unknown=0))
    return line.add(LogWritten(at=START + until, whole=True))


def attached(launched: float, failed: float, until: float = 42.0) -> Timeline:
    return read(Timeline(t=45).found(tp=2).spawn(0), launched, failed, until)


def kind(line: Timeline) -> str | None:
    cause = line.verdict().cause
    return cause.kind if cause is not None else None


@pytest.mark.parametrize("zone", ZONES)
def test_a_failure_in_a_log_of_another_zone_is_the_process_s_own(zone: float) -> None:
    line = attached(20 + zone * HOUR, 40 + zone * HOUR)
    verdict = line.verdict()
    assert (verdict.state, kind(line), verdict.attempt) == ("failed", "oom", 1)
    line.wait(1).kill(None).sample()
    assert (line.verdict().state, kind(line)) == ("failed", "oom")


@pytest.mark.parametrize("zone", ZONES)
def test_so_it_is_where_the_log_was_read_before_the_server_was_found(zone: float) -> None:
    line = read(Timeline(t=45), 20 + zone * HOUR, 40 + zone * HOUR, 42).found(tp=2)
    assert (line.verdict().state, kind(line)) == ("failed", "oom")
    assert line.state.earlier == ()


@pytest.mark.parametrize("launched", [-60.0, -4 * HOUR - 300, -24 * HOUR + 20, -13 * HOUR * 2, 5 * HOUR - 400])
def test_what_no_zone_brings_into_its_life_is_of_an_earlier_start(launched: float) -> None:
    """Something was written to the log since: it is not too old for the process."""
    line = attached(launched, launched + 20)
    verdict = line.verdict()
    assert (verdict.state, verdict.cause, verdict.attempt) == ("starting", None, 2)
    assert any("log line 9 counts to an earlier start (oom)" in told for told in verdict.evidence)


def test_a_start_that_lasted_longer_than_the_process_lives_is_an_earlier_one() -> None:
    assert attached(20 - 5 * HOUR, 500 - 5 * HOUR).verdict().state == "starting"


def test_a_zone_that_no_place_has_from_where_the_host_is_explains_nothing() -> None:
    line = Timeline(t=45).add(HostSeen(at=START, node="gpu-a", system="Linux", user="op", utc_offset=9 * HOUR))
    assert read(line.found(tp=2).spawn(0), 20 + 6 * HOUR, 40 + 6 * HOUR, 42).verdict().state == "starting"


@pytest.mark.parametrize(("behind", "state"), [(0.0, "starting"), (5 * HOUR, "failed")])
def test_lines_that_arrive_prove_the_zone(behind: float, state: str) -> None:
    """The launch was 5 hours and some seconds ago, or now: a line that comes now, with a stamp of its own, tells."""
    line = attached(20 - 5 * HOUR, 40 - 5 * HOUR)
    line.add(LinesRead(at=line.now, stamp=line.now - behind - 0.5, size=90, lines=1, unknown=1))
    assert line.verdict().state == state


def test_a_line_that_lay_in_a_buffer_proves_nothing() -> None:
    line = attached(20 - 5 * HOUR, 40 - 5 * HOUR)
    line.add(LinesRead(at=line.now, stamp=line.now - 300, size=90, lines=1, unknown=1))
    assert line.verdict().state == "failed"


def test_a_launch_that_arrived_before_the_process_began_is_another_s() -> None:
    """It came while somebody listened: no zone is tried."""
    line = Timeline(t=-HOUR + 5).launch(tp=2)
    line.fault("oom", line=9)
    line.t = 45
    assert line.found().verdict().state == "starting"


def test_a_launch_without_a_time_is_nobody_else_s() -> None:
    line = Timeline(t=45).found().add(Launch(at=0.0, engine="sglang", model="/m"))
    line.add(Fault(at=0.0, kind="oom", text="CUDA out of memory"), LogWritten(at=START + 42, whole=True))
    assert line.verdict().state == "failed"


# --- a place in the log that was written down -----------------------------------------------------------------


def begun(launched: float = 20.0, failed: float = 40.0) -> Timeline:
    """Let the log be read from where the launch said that it begins; its file system's clock is an hour behind."""
    line = Timeline(t=45).found(tp=2).spawn(0).add(LogBegan(at=START + 45))
    return read(line, launched, failed, until=-HOUR)


def test_what_is_behind_the_place_is_the_process_s_own_whatever_the_file_system_s_clock_says() -> None:
    line = begun()
    assert (line.verdict().state, kind(line), line.state.earlier) == ("failed", "oom", ())


def test_so_it_is_whatever_the_stamps_say() -> None:
    assert begun(-1234.0, -1200.0).verdict().state == "failed"


def test_the_place_is_of_one_process() -> None:
    line = begun().wait(1).kill(None).sample().wait(2)
    line.add(ServerGone(at=line.now, pid=ROOT)).found(pid=7, start=7, started_at=line.now)
    assert line.verdict().state == "starting"
    assert [past.kind for past in line.state.earlier] == ["oom"]
