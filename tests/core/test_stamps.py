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


@pytest.mark.parametrize(
    ("text", "offset", "by", "expected"),
    [
        (b"11-30 04:18:21", 0.0, seconds(2026, 11, 30, 4, 20), seconds(2026, 11, 30, 4, 18, 21)),
        (b"12-31 23:59:59", 0.0, seconds(2027, 1, 1), seconds(2026, 12, 31, 23, 59, 59)),
        (b"01-01 00:00:05", 0.0, seconds(2027, 1, 1, 0, 1), seconds(2027, 1, 1, 0, 0, 5)),
        (b"03-02 09:14:29", 0.0, seconds(2026, 11, 30), seconds(2026, 3, 2, 9, 14, 29)),
        (b"12-05 09:14:29", 0.0, seconds(2026, 11, 30), seconds(2025, 12, 5, 9, 14, 29)),
        (b"02-29 10:00:00", 0.0, seconds(2027, 3, 1), seconds(2024, 2, 29, 10)),
        (b"Mar  2 15:35:53", 3600.0, seconds(2026, 11, 30), seconds(2026, 3, 2, 14, 35, 53)),
        (b"01-01 09:00:00", 0.0, seconds(2026, 12, 31, 20), seconds(2027, 1, 1, 9)),
        (b"00:00:05", 0.0, seconds(2026, 3, 3, 0, 1), seconds(2026, 3, 3, 0, 0, 5)),
        (b"02-30 10:00:00", 0.0, seconds(2026, 11, 30), None),
    ],
)
def test_what_was_written_by_a_time_is_of_the_last_year_until_then(
    text: bytes, offset: float, by: float, expected: float | None
) -> None:
    """A server in another zone may be ahead of its host, also over New Year."""
    assert read_stamp(text, offset, by=by) == (None if expected is None else pytest.approx(expected))


def backlog(stamps: list[bytes], by: float | None) -> list[float]:
    """Return the moments of stamps that were in the file already."""
    time = Timekeeper(0.0)
    time.arrive(None, by)
    moments = []
    for stamp in stamps:
        time.show(stamp)
        moments.append(time.now())
    return moments


def test_the_years_of_a_long_log_are_right_again_at_its_end() -> None:
    """Nine months lie between two starts, and before that more than a year."""
    stamps = [b"06-01 10:00:00", b"02-28 10:00:00", b"11-30 04:18:21"]
    assert backlog(stamps, seconds(2026, 11, 30, 4, 20))[1:] == [
        seconds(2026, 2, 28, 10),
        seconds(2026, 11, 30, 4, 18, 21),
    ]


def test_a_year_that_was_printed_counts_more() -> None:
    stamps = [b"2024-12-31 23:59:58", b"12-31 23:59:59", b"01-01 00:00:01"]
    assert backlog(stamps, seconds(2026, 11, 30))[1:] == [
        seconds(2024, 12, 31, 23, 59, 59),
        seconds(2025, 1, 1, 0, 0, 1),
    ]


def test_what_comes_after_a_lost_connection_is_dated_by_its_own_moment() -> None:
    time = Timekeeper(0.0)
    time.arrive(None, seconds(2026, 12, 31))
    time.show(b"12-31 20:00:00")
    time.arrive(seconds(2026, 12, 31, 20, 1))
    time.show(b"12-31 20:01:00")
    time.arrive(None, seconds(2027, 1, 2))
    time.show(b"01-01 03:00:00")
    assert time.now() == seconds(2027, 1, 1, 3)


def test_the_transport_stamp_without_a_year_is_of_the_last_one_too() -> None:
    time = Timekeeper(0.0)
    time.arrive(None, seconds(2027, 1, 1, 1))
    time.wrap(b"Dec 31 23:59:50", b"2026-12-31 23:59:50")
    time.wrap(b"Jan  1 00:00:10", b"")
    assert time.now() == seconds(2027, 1, 1, 0, 0, 10)


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
