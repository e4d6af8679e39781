"""What came of a stop, in words: right for none, for one and for many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bringup.core.events import Process
from bringup.hosts.control import Stopped


def some(number: int) -> tuple[Process, ...]:
    """So many processes."""
    return tuple(
        Process(pid=100 + each, ppid=1, start=each, title="python3", comm="python", user="root", state="D")
        for each in range(number)
    )


@pytest.mark.parametrize(
    ("ended", "killed", "said"),
    [
        (0, 0, "No process ended in 2.0 s."),
        (1, 0, "1 process ended in 2.0 s."),
        (1, 1, "1 process ended in 2.0 s; it had to be killed."),
        (2, 2, "2 processes ended in 2.0 s; both had to be killed."),
        (9, 0, "9 processes ended in 2.0 s."),
        (9, 1, "9 processes ended in 2.0 s; 1 of them had to be killed."),
        (9, 9, "9 processes ended in 2.0 s; all 9 had to be killed."),
    ],
)
def test_who_had_to_be_killed(ended: int, killed: int, said: str) -> None:
    assert Stopped(ended=some(ended), killed=some(killed), took=2.0).sentence == said


def test_not_all_that_remain_are_named_but_all_are_counted() -> None:
    said = Stopped(remains=some(6), gpu_holders=tuple(range(200, 212)), took=2.0).sentence
    assert "; 6 would not end: python (PID 100, root, waiting for a device (D)), " in said
    assert said.count("(PID") == 3
    assert "and 3 more" in said
    assert "PID 200, 201, 202, 203, 204, 205, 206 and 5 more" in said


@pytest.mark.parametrize(("state", "why"), [("D", "waiting for a device (D)"), ("T", "stopped (T)")])
def test_one_that_remains_is_named_with_what_holds_it(state: str, why: str) -> None:
    remains = (replace(some(1)[0], state=state),)
    said = Stopped(ended=some(0), remains=remains, spared=True, took=2.0).sentence
    assert said == f"No process ended in 2.0 s; 1 would not end: python (PID 100, root, {why}), and nothing was killed."


def test_the_state_of_one_that_merely_runs_is_not_worth_a_word() -> None:
    said = Stopped(remains=(replace(some(1)[0], state="S"),), took=2.0).sentence
    assert said == "No process ended in 2.0 s; 1 would not end: python (PID 100, root)."


def test_those_that_were_killed_and_one_that_would_not_end_are_told_apart() -> None:
    said = Stopped(ended=some(2), killed=some(2), remains=some(1), took=2.0).sentence
    assert said.startswith("2 processes ended in 2.0 s; both had to be killed; 1 more would not end: python (PID 100, ")


def test_what_has_started_it_again_is_to_be_ended_first() -> None:
    new, *above = some(3)
    again = "it was started again as PID 100 by what stands above it"
    said = Stopped(again=new, supervised=True, starters=tuple(above[:1])).sentence
    assert f"{again}: end PID 101 (python3) first, then stop the server again." in said
    said = Stopped(again=new, supervised=True, starters=tuple(above)).sentence
    assert f"{again}: end PID 101 (python3) first, and above that PID 102, then stop the server again." in said
    assert Stopped(again=new).sentence.endswith(f"{again}.")
