"""A launch has its number in its log: as whoever comes to that log later counts it."""

from __future__ import annotations

from timeline import ROOT, START, Timeline

from bringup.core.events import Fault, Launch, LogOpened, LogTarget, ServerGone

OLD, NEW = "/var/log/old.log", "/var/log/new.log"


def opened(line: Timeline, path: str, *, renamed: bool = False) -> Timeline:
    return line.add(LogOpened(at=line.now, path=path, kind="file", renamed=renamed))


def again(line: Timeline, path: str, pid: int) -> Timeline:
    """Let the server end, and another one start 5 s later, which writes to a log."""
    known = line.state.server.pid if line.state.server is not None else ROOT
    line.wait(5).add(ServerGone(at=line.now, pid=known)).wait(5)
    logs = (LogTarget(path, "file"),)
    return line.found(pid=pid, start=pid, started_at=line.now - 1, logs=logs)


def started(launches: int = 3) -> Timeline:
    """Come to a server whose launch is the last of some in its log."""
    line = opened(Timeline(t=45).found(logs=(LogTarget(OLD, "file"),)), OLD)
    for _ in range(launches):
        line.launch()
    return line


def test_another_log_is_counted_by_itself() -> None:
    line = again(started(), NEW, pid=7)
    assert line.verdict().attempt == 4
    opened(line, NEW)
    assert (line.verdict().attempt, line.state.earlier) == (1, ())
    assert line.wait(1).launch().verdict().attempt == 1
    assert opened(line, NEW).verdict().attempt == 1


def test_what_it_held_before_counts() -> None:
    line = opened(again(started(), NEW, pid=7), NEW).launch().launch()
    assert line.verdict().attempt == 2


def test_nothing_of_the_log_before_is_of_its_server() -> None:
    """The old one's stamps are in another zone, where they could be the new one's: by themselves they prove nothing."""
    at = START + 7200 + 54.5
    line = started(0).add(Launch(at=at, stamp=at, engine="sglang", model="/m", line=1))
    line = again(line.add(Fault(at=at, stamp=at, kind="oom", text="CUDA out of memory", line=9)), NEW, pid=7)
    assert line.verdict().state == "failed"
    opened(line, NEW)
    verdict = line.verdict()
    assert (verdict.state, verdict.cause, verdict.attempt, verdict.since) == ("starting", None, 1, line.now - 1)


def test_the_same_log_is_counted_on() -> None:
    line = opened(again(started(), OLD, pid=7), OLD)
    assert line.launch().verdict().attempt == 4


def test_so_is_one_that_is_come_back_to() -> None:
    line = opened(again(started(), NEW, pid=7), NEW).launch()
    line = opened(again(line, OLD, pid=8), OLD).launch()
    assert line.verdict().attempt == 4
    assert opened(again(line, NEW, pid=9), NEW).launch().verdict().attempt == 2


def test_and_one_that_has_another_name_now() -> None:
    """A deleted log that two processes have inherited has the name of a descriptor."""
    line = opened(again(started(), NEW, pid=7), NEW, renamed=True)
    assert line.launch().verdict().attempt == 4


def test_the_second_log_of_one_server_begins_nothing() -> None:
    line = opened(started(), NEW)
    assert opened(line, OLD).launch().verdict().attempt == 4


def test_a_log_that_the_operator_named_is_counted_on() -> None:
    """What the process itself has open is something else."""
    line = opened(again(started(), NEW, pid=7), OLD)
    assert line.launch().verdict().attempt == 4


def test_a_server_that_printed_no_arguments_is_no_launch_of_its_log() -> None:
    line = opened(Timeline().found(logs=(LogTarget(OLD, "file"),)), OLD)
    line = opened(again(line, OLD, pid=7), OLD).launch()
    assert (line.verdict().attempt, line.state.attempt.began_at) == (1, START + 9)
