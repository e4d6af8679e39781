"""What the pane says where the log moved: only what is known."""

from __future__ import annotations

from typing import Any

import pytest

from bringup.core.events import LogMoved
from bringup.session.marks import mark_of


@pytest.mark.parametrize(
    ("how", "rest", "words"),
    [
        ("rotated", "read", "server.log was rotated and read to its end"),
        ("rotated", "between", "files that came between may be missing"),
        (
            "rotated",
            "missing",
            "goes on in a new file; what was written to the one before after byte 1,234 was not found",
        ),
        ("truncated", "", "was truncated; here it begins again"),
        ("truncated", "read", "was truncated, and a copy of it read to its end"),
        ("truncated", "missing", "what was written to it after byte 1,234 was not found"),
        ("replaced", "missing", "was written anew or is another file now"),
        ("back", "missing", "is there again as another file; what was written to the one before after byte 1,234"),
        ("back", "read", "is there again"),
    ],
)
def test_words(how: Any, rest: Any, words: str) -> None:
    mark = mark_of("/var/log/server.log", LogMoved(at=0.0, how=how, rest=rest, read=1234), 3600.0).decode()
    assert mark.startswith("--- bringup, 01:00:00: server.log ")
    assert words in mark


def test_a_gap_is_never_told_as_read_to_its_end() -> None:
    for rest in ("missing", "between"):
        for how in ("rotated", "truncated", "replaced", "back"):
            moved = LogMoved(at=0.0, how=how, rest=rest)  # type: ignore[arg-type]
            assert b"read to its end" not in mark_of("/a", moved, 0.0)
