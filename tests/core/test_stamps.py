from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bringup.core.stamps import read_stamp
from bringup.core.timekeeper import Timekeeper


def seconds(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("text", "offset", "near", "expected"),
    [
        (b"2026-03-02 09:14:29", 0.0, None, seconds(2026, 3, 2, 9, 14, 29)),
        (b"2026-03-02 09:14:29.250", 7200.0, None, seconds(2026, 3, 2, 7, 14, 29) + 0.25),
        (b"2026-03-02T09:14:29.5Z", 7200.0, None, seconds(2026, 3, 2, 9, 14, 29) + 0.5),
        (b"2026-03-02T09:14:29.123456789+02:00", 0.0, None, seconds(2026, 3, 2, 7, 14, 29) + 0.123456789),
        (b"2026-03-02T09:14:29-0530", 0.0, None, seconds(2026, 3, 2, 14, 44, 29)),
        (b"12-31 23:59:59", 0.0, seconds(2027, 1, 1), seconds(2026, 12, 31, 23, 59, 59)),
        (b"02-29 10:00:00", 0.0, seconds(2028, 3, 1), seconds(2028, 2, 29, 10)),
        (b"May  2 15:35:53", 3600.0, seconds(2026, 5, 3), seconds(2026, 5, 2, 14, 35, 53)),
        (b"00:00:05", 0.0, seconds(2026, 3, 2, 23, 59, 58), seconds(2026, 3, 3, 0, 0, 5)),
        (b"23:59:58", 0.0, seconds(2026, 3, 3, 0, 0, 5), seconds(2026, 3, 2, 23, 59, 58)),
        (b"21:47:03", 0.0, None, 21 * 3600 + 47 * 60 + 3.0),
        (b"2026-02-30 10:00:00", 0.0, None, None),
        (b"2026-03-02 29:00:00", 0.0, None, None),
        (b"Foo  2 15:35:53", 0.0, None, None),
        (b"yesterday", 0.0, None, None),
    ],
)
def test_times_as_logs_write_them(text: bytes, offset: float, near: float | None, expected: float | None) -> None:
    assert read_stamp(text, offset, near) == (None if expected is None else pytest.approx(expected))


def test_lines_without_a_time_have_the_last_one_known() -> None:
    time = Timekeeper(0.0)
    time.arrive(None)
    assert time.place() == (0.0, None)
    time.text = b"2026-03-02 09:14:29"
    assert time.place() == (seconds(2026, 3, 2, 9, 14, 29),) * 2
    assert time.now() == seconds(2026, 3, 2, 9, 14, 29)


def test_live_lines_have_the_time_of_arrival_and_their_own() -> None:
    time = Timekeeper(0.0)
    time.arrive(1000.0)
    time.text = b"2026-03-02 09:14:29"
    assert time.place() == (1000.0, seconds(2026, 3, 2, 9, 14, 29))
    assert time.printed() == seconds(2026, 3, 2, 9, 14, 29)
    time.arrive(1001.0)
    assert time.printed() is None


def test_the_transport_clock_moves_the_engine_clock_on_whatever_its_zone() -> None:
    time = Timekeeper(0.0)
    time.arrive(None)
    time.wrap(b"2026-03-02T07:14:29.000Z", b"2026-03-02 09:14:29")
    time.wrap(b"2026-03-02T07:14:39.000Z", b"")
    assert time.now() == seconds(2026, 3, 2, 9, 14, 39)
    time.text = b"2026-03-02 09:14:29"
    assert time.now() == seconds(2026, 3, 2, 9, 14, 29)
