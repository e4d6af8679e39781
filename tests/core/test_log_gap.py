"""Lines that were written and not found are a warning of the attempt; a log that moved whole is none."""

from __future__ import annotations

from typing import Any

import pytest
from timeline import loading

from bringup.core.events import LogMoved


def gaps(line: Any) -> list[str]:
    return [one.detail for one in line.verdict(1).warnings if one.kind == "log-gap"]


@pytest.mark.parametrize(
    ("rest", "words"),
    [("missing", "what was written to it after byte 21,000 was not found"), ("between", "rotated more than once")],
)
def test_what_was_not_found_is_a_warning(rest: Any, words: str) -> None:
    line = loading(2).spawn(2).bar(3, 24)
    line.add(LogMoved(at=line.now, how="rotated", rest=rest, read=21_000))
    (told,) = gaps(line)
    assert words in told
    assert line.verdict(1).state == "starting"


@pytest.mark.parametrize("rest", ["", "read"])
def test_what_was_read_to_its_end_is_none(rest: Any) -> None:
    line = loading(2).spawn(2).bar(3, 24)
    line.add(LogMoved(at=line.now, how="truncated", rest=rest, read=21_000))
    assert gaps(line) == []


def test_the_next_start_is_not_to_blame() -> None:
    line = loading(2).bar(3, 24)
    line.add(LogMoved(at=line.now, how="truncated", rest="missing", read=5)).launch()
    assert line.state.attempt.number == 2
    assert gaps(line) == []
