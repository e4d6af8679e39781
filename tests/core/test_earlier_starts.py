"""A log that is appended to: starts that failed before they printed their launch are not the living one's."""

from __future__ import annotations

import pytest
from timeline import ROOT, START, Timeline

from bringup.core.events import Fault, Launch, LinesRead, LogWritten, ServerGone, Warned
from bringup.core.state import State

IMPORT = "ModuleNotFoundError: No module named 'sglang'"


def told(line: Timeline) -> list[tuple[int, str | None, int]]:
    """What the state keeps of earlier starts."""
    return [(past.number, past.kind, past.line) for past in line.state.earlier]


def read_before(line: Timeline, kind: str = "import", at: float = 0.0) -> Timeline:
    """Let a failure be read that was in the log before anybody looked; without a stamp nothing tells its time."""
    line.add(Fault(at=at, kind=kind, text=IMPORT, line=7))
    return line.add(LinesRead(at=at, size=900, lines=9, unknown=3))


def written(line: Timeline, at: float, *, whole: bool = True) -> Timeline:
    return line.add(LogWritten(at=START + at, whole=whole))


def attached(at: float, **server: object) -> Timeline:
    """Come to a server whose log has a failure, and was last written to `at` seconds after the server's start."""
    return written(read_before(Timeline(t=20).found(**server).spawn(2)), at)


def test_what_was_written_before_the_process_began_is_of_an_earlier_start() -> None:
    line = attached(-60.0)
    verdict = line.verdict()
    assert (verdict.state, verdict.phase, verdict.cause, verdict.attempt) == ("starting", "launch", None, 1)
    assert verdict.since == START
    assert told(line) == [(1, "import", 7)]


def test_its_launch_is_the_same_attempt_when_it_is_printed() -> None:
    line = attached(-60.0).wait(5).launch(tp=2)
    assert (line.verdict().state, line.verdict().attempt) == ("starting", 1)
    assert told(line) == [(1, "import", 7)]


@pytest.mark.parametrize("at", [-1.5, 0.0, 3.0])
def test_what_may_have_been_written_by_the_process_is_its_own(at: float) -> None:
    line = attached(at)
    assert line.verdict().state == "failed"
    assert line.verdict().cause is not None
    assert told(line) == []


def test_a_failure_that_is_read_later_is_its_own() -> None:
    line = attached(-60.0).wait(2).fault("import", IMPORT)
    verdict = line.verdict()
    assert (verdict.state, verdict.cause is not None and verdict.cause.kind) == ("failed", "import")
    assert told(line) == [(1, "import", 7)]


def test_what_is_true_of_one_log_proves_nothing_of_all() -> None:
    line = written(read_before(Timeline(t=20).found()), -60.0, whole=False)
    assert line.verdict().state == "failed"


def test_an_older_launch_is_an_attempt_of_its_own() -> None:
    line = Timeline(t=200).found()
    line.add(Launch(at=0.0, engine="sglang", model="/m", tp=4, line=1))
    written(read_before(line, "oom"), -60.0)
    verdict = line.verdict()
    # That it has been silent for long makes it slow, and not the one that failed.
    assert (verdict.state, verdict.attempt, verdict.cause) == ("slow", 2, None)
    assert told(line) == [(1, "oom", 7)]
    assert line.wait(5).launch(tp=2).verdict().attempt == 2


def test_warnings_of_an_earlier_start_go_with_it() -> None:
    line = Timeline(t=20).found().add(Warned(at=0.0, kind="watchdog", detail="no answer"))
    written(line, -60.0)
    assert line.state.attempt.warnings == ()
    assert told(line) == []


def test_nothing_changes_where_nothing_was_told() -> None:
    line = Timeline(t=20).found().spawn(2)
    before = line.state.attempt
    assert written(line, -60.0).state.attempt is before


def test_a_rank_that_dies_while_the_log_is_read_stays_dead() -> None:
    line = read_before(Timeline(t=20).found(tp=2).spawn(2)).wait(1).kill(1).sample().wait(5).sample()
    written(line, -60.0)
    assert line.verdict().state == "failed"
    assert line.verdict().failed_ranks == (1,)
    line.wait(1).sample()
    assert line.verdict().failed_ranks == (1,)
    assert sorted(rank.rank for rank in line.state.attempt.ranks) == [0, 1]


def test_its_processes_are_known_at_once() -> None:
    line = attached(-60.0, tp=2)
    assert [(rank.rank, rank.pid) for rank in line.state.attempt.ranks] == [(0, ROOT + 1), (1, ROOT + 2)]


def test_a_process_that_ends_without_a_word_is_not_called_failed_by_older_words() -> None:
    line = attached(-60.0).wait(3)
    line.add(ServerGone(at=line.now, pid=ROOT))
    assert line.verdict().state == "stopped"


# --- the log is read before the server is found ---------------------------------------------------------------


@pytest.mark.parametrize(("at", "state"), [(-60.0, "starting"), (1.0, "failed")])
def test_a_server_is_found_after_the_log_was_read(at: float, state: str) -> None:
    line = written(read_before(Timeline(t=5)), at).found()
    assert line.verdict().state == state
    assert told(line) == ([(1, "import", 7)] if state == "starting" else [])


def test_what_the_host_says_counts_more_than_a_stamp_of_another_zone() -> None:
    line = written(read_before(Timeline(t=5), at=START - 7200), 1.0).found()
    assert line.verdict().state == "failed"


def test_without_the_host_s_word_a_stamp_tells_when_it_was() -> None:
    line = read_before(Timeline(t=5), at=START - 60).found()
    assert line.verdict().state == "starting"


def test_a_failure_without_any_time_is_nobody_else_s() -> None:
    assert read_before(Timeline(t=5)).found().verdict().state == "failed"


def test_the_failure_before_is_left_behind_and_its_own_is_kept() -> None:
    line = written(read_before(Timeline(t=3)), -60.0).fault("config", "error: unrecognized arguments: --tpp", line=20)
    verdict = line.wait(1).found().verdict()
    assert (verdict.state, verdict.cause is not None and verdict.cause.kind) == ("failed", "config")
    assert told(line) == [(1, "import", 7)]


# --- the server is started again while we watch ---------------------------------------------------------------


def respawned(after: float, fails: float = 10.0) -> Timeline:
    """Let a server fail before its launch, and another one begin `after` seconds after it."""
    line = Timeline().found().spawn(0)
    line.t = fails
    line.fault("import", IMPORT).wait(0.4).kill(None).sample()
    return line.wait(2).found(pid=ROOT + 9, start=9, started_at=START + fails + after)


@pytest.mark.parametrize("after", [0.1, 0.5, 1.9, 5.0])
def test_one_that_is_started_again_at_once_has_not_failed(after: float) -> None:
    line = respawned(after)
    assert line.verdict().state == "starting"
    assert [kind for _, kind, _ in told(line)] == ["import"]
    assert line.wait(1).fault("import", IMPORT).verdict().state == "failed"


def test_one_that_fails_before_it_is_found_has_failed() -> None:
    line = Timeline().found().spawn(0)
    line.t = 10.0
    line.fault("import", IMPORT).wait(0.4).kill(None).sample().wait(2).fault("import", "ImportError: its own", line=30)
    line.wait(0.5).found(pid=ROOT + 9, start=9, started_at=START + 10.5)
    verdict = line.verdict()
    assert (verdict.state, verdict.cause is not None and verdict.cause.line) == ("failed", "ImportError: its own")
    assert [kind for _, kind, _ in told(line)] == ["import"]


def test_the_history_of_attempts_stays_bounded() -> None:
    line = Timeline(t=20)
    for number in range(50):
        line.state = State(earlier=line.state.earlier)
        written(read_before(line.found(pid=ROOT + number)), -60.0)
    assert len(line.state.earlier) == 20
