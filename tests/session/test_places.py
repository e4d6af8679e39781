"""Places in a log as they are typed, and the times of its lines."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bringup.session.places import Place, read_place, time_of

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC).timestamp()
HOUR = 3600.0


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("42%", 420), (" 42.5 % ", 425), ("42,5%", 425), ("0%", 0), ("100%", 1000),
        ("4123456789", 4_123_456_789), ("byte 4,123,456", 4_123_456), ("7", 7),
        ("4.1GB", 4_100_000_000), ("4.1 gb", 4_100_000_000), ("2 GiB", 2 << 30), ("64k", 64_000), ("64 KiB", 65_536),
    ],
)  # fmt: skip
def test_bytes_and_shares(text: str, offset: int) -> None:
    assert read_place(text, 1000, NOW, 0.0) == Place(offset=offset)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("11:30", NOW - HOUR / 2),
        ("11:30:05", NOW - HOUR / 2 + 5),
        ("13:00", NOW - 23 * HOUR),
        ("9:00", NOW - 3 * HOUR),
        ("2026-03-01 12:00", NOW - 24 * HOUR),
        ("2026-03-01T12:00:10", NOW - 24 * HOUR + 10),
        ("03-01 12:00", NOW - 24 * HOUR),
    ],
)
def test_times_are_those_that_have_been(text: str, when: float) -> None:
    assert read_place(text, 1000, NOW, 0.0) == Place(when=when)


def test_a_time_is_of_the_host_s_zone() -> None:
    assert read_place("12:30", 1000, NOW, HOUR) == Place(when=NOW - HOUR / 2)


@pytest.mark.parametrize("text", ["", "tomorrow", "101%", "25:00", "12:99", "-5", "2026-02-31 10:00", "%", "GB"])
def test_anything_else_is_no_place(text: str) -> None:
    assert read_place(text, 1000, NOW, 0.0) is None


@pytest.mark.parametrize(
    ("line", "when"),
    [
        (b"[2026-03-02 11:00:00 TP3] Load weight end", NOW - HOUR),
        (b"(EngineCore pid=7) INFO 03-02 11:00:00 [core.py:58] x", NOW - HOUR),
        (b"[11:00:00] old", NOW - HOUR),
        (b"2026-03-02T11:00:00.5Z x", NOW - HOUR + 0.5),
        (b"Loading: 50%|##  | 1/2 [01:02:03<01:02:03, 9s/it]", None),
        (b"no time here", None),
        (b"x" * 200 + b" 2026-03-02 11:00:00", None),
    ],
)
def test_times_of_lines(line: bytes, when: float | None) -> None:
    assert time_of(line, NOW, 0.0) == when
