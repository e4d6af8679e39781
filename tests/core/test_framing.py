from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.core.framing import Framer

PIECES = st.lists(
    st.sampled_from([b"a", b"bar 1/4", b"\r", b"\n", b"\r\n", "█".encode(), b"\x85", b"\x0b"]), max_size=30
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[begin:end] for begin, end in itertools.pairwise(edges)]


@given(PIECES, st.lists(st.integers(0, 400), max_size=8))
@settings(max_examples=150, deadline=None)
def test_records_do_not_depend_on_the_chunks(pieces: list[bytes], places: list[int]) -> None:
    data = b"".join(pieces)
    whole, parts = Framer(), Framer()
    expected = whole.feed(data)
    got = [record for chunk in cut(data, places) for record in parts.feed(chunk)]
    assert (got, parts.tail) == (expected, whole.tail)
    assert got + parts.close() == expected + whole.close()


@given(PIECES)
@settings(max_examples=80, deadline=None)
def test_nothing_is_lost(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    framer = Framer()
    kept = b"".join(framer.split(data)) + framer.tail
    assert data in (kept, kept + b"\r")


@pytest.mark.parametrize(
    ("chunks", "records", "tail"),
    [
        ([b"one\ntwo"], [b"one"], b"two"),
        ([b"one\r\ntwo\r\n"], [b"one", b"two"], b""),
        ([b"one\r", b"\ntwo"], [b"one"], b"two"),
        ([b"one\r", b"two"], [b"one"], b"two"),
        ([b"\rbar 1\rbar 2"], [b"", b"bar 1"], b"bar 2"),
        ([b"a\x0bb\x85c\n"], [b"a\x0bb\x85c"], b""),
    ],
)
def test_terminators(chunks: list[bytes], records: list[bytes], tail: bytes) -> None:
    framer = Framer()
    assert [record for chunk in chunks for record in framer.feed(chunk)] == records
    assert framer.tail == tail


def test_a_lone_carriage_return_waits_for_its_other_half() -> None:
    framer = Framer()
    assert framer.feed(b"bar 1/4\r") == []
    assert framer.tail == b"bar 1/4"
    assert framer.feed(b"bar 2/4") == [b"bar 1/4"]


def test_a_line_without_end_stays_small_and_the_next_one_is_whole() -> None:
    framer = Framer(limit=100)
    for _ in range(1000):
        assert framer.feed(b"x" * 997) == []
        assert len(framer.tail) <= 100
    assert framer.feed(b"\nnext\n") == [b"x" * 100, b"next"]
    assert framer.dropped == 997_000 - 100


def test_an_overlong_line_is_cut_the_same_in_one_chunk() -> None:
    framer = Framer(limit=10)
    assert framer.feed(b"x" * 25 + b"\r\nok\n") == [b"x" * 10, b"ok"]
    assert framer.dropped == 15
