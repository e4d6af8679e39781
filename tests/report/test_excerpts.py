from __future__ import annotations

import tracemalloc

import pytest

from bringup.report.excerpts import Excerpts, Quoted

LOG = b"".join(b"line %d\n" % number for number in range(1, 21))


def fed(log: bytes, size: int, wanted: set[int]) -> Excerpts:
    """Feed a log in chunks; a line is wanted from the chunk on in which it begins, as faults are found."""
    excerpts = Excerpts()
    for start in range(0, len(log), size):
        seen = log.count(b"\n", 0, start + size) + 1
        excerpts.feed(log[start : start + size], {number for number in wanted if number <= seen})
    excerpts.close(wanted)
    return excerpts


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 50, 1000])
def test_the_lines_around_are_the_same_for_any_chunks(size: int) -> None:
    excerpts = fed(LOG, size, {1, 10, 20})
    assert [quoted.number for quoted in excerpts.around(10)] == [7, 8, 9, 10, 11, 12]
    assert excerpts.around(10)[3] == Quoted(10, "line 10")
    assert [quoted.number for quoted in excerpts.around(1)] == [1, 2, 3]
    assert [quoted.number for quoted in excerpts.around(20)] == [17, 18, 19, 20]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_last_line_without_an_end_counts(size: int) -> None:
    excerpts = fed(b"a\nb\nc", size, {3})
    assert [quoted.text for quoted in excerpts.around(3)] == ["a", "b", "c"]


def test_a_line_that_no_longer_matters_is_forgotten() -> None:
    excerpts = Excerpts()
    excerpts.feed(LOG, {5})
    excerpts.feed(LOG, {25})
    assert excerpts.around(5) == ()
    assert len(excerpts.around(25)) == 6


def test_of_a_bar_drawn_over_and_over_the_last_is_shown() -> None:
    excerpts = fed(b"\rloading 1/3\rloading 2/3\rloading 3/3\r\nboom\n", 4, {2})
    assert [quoted.text for quoted in excerpts.around(2)] == ["loading 3/3", "boom"]


def test_indentation_stays_and_secrets_do_not() -> None:
    excerpts = fed(b'  File "x.py"\nHF_TOKEN=sk-demo-redact-me \x1b]0;t\x07\xff\n', 9, {2})
    first, second = excerpts.around(2)
    assert first.text == '  File "x.py"'
    assert second.text.startswith("HF_TOKEN=*** ")
    assert "\x1b" not in second.text


def test_a_secret_at_the_cut_is_not_shown_in_part() -> None:
    for pad in (*range(960, 1010), *range(3960, 4010)):
        shown = fed(b"x" * pad + b" --api-key sk-demo-redact-me\n", 4096, {1}).around(1)[0].text
        assert "sk-" not in shown


def test_memory_stays_flat_on_one_endless_line() -> None:
    chunk = b"x" * 262_144
    excerpts = Excerpts()
    tracemalloc.start()
    try:
        for _ in range(200):
            excerpts.feed(chunk, {1})
        excerpts.close({1})
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 4 << 20
    assert len(excerpts.around(1)[0].text) == 1000
