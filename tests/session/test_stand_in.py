"""What is known of a server in the moment in which it was launched."""

from __future__ import annotations

from dataclasses import replace

from bringup.core.events import LogTarget, Server
from bringup.hosts.control import Begin, Started
from bringup.session.launched import stand_in, with_known_logs

OLD = Server(
    pid=7, start=1000, engine="vllm", argv=("vllm",), port=8000, started_at=50.0, logs=(LogTarget("", "pipe"),)
)


def test_it_is_like_the_one_in_whose_place_it_was_launched() -> None:
    made = stand_in(Started(9, 3000), OLD, (7, 1000), 100.0)
    assert (made.pid, made.start, made.engine, made.port, made.started_at) == (9, 3000, "vllm", 8000, 70.0)
    assert made.logs == OLD.logs


def test_where_it_writes_is_known_from_its_launch() -> None:
    begins = (Begin("/var/log/a", "/var/log/a.1"), Begin("/var/log/a"), Begin("/var/log/b", offset=7))
    made = stand_in(Started(9, 3000, begins=begins), OLD, (7, 1000), 100.0)
    assert [target.path for target in made.logs] == ["/var/log/a", "/var/log/b"]


def test_it_is_not_like_another_one() -> None:
    made = stand_in(Started(9, 3000), OLD, (8, 900), 100.0)
    assert (made.engine, made.argv, made.started_at) == ("", (), 70.0)
    assert stand_in(Started(9, 3000), None, None, 100.0).started_at == 100.0


def test_one_that_is_just_ending_keeps_the_logs_that_are_known_of_it() -> None:
    closed = (LogTarget("", "denied", "Where stdout of PID 9 goes cannot be read."),)
    known = stand_in(Started(9, 3000, begins=(Begin("/var/log/a"),)), OLD, (7, 1000), 100.0)
    ending = replace(known, logs=closed, cwd="")
    assert with_known_logs(ending, known) == replace(ending, logs=known.logs)
    assert with_known_logs(replace(ending, logs=()), known).logs == known.logs
    assert with_known_logs(replace(ending, start=3001), known).logs == closed
    assert with_known_logs(ending, None).logs == closed
    moved = replace(known, logs=(*closed, LogTarget("/var/log/b", "file")))
    assert with_known_logs(moved, known) == moved
