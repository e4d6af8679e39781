from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loggen import sglang_log

from bringup.core.folding import LineFolder
from bringup.engines import load_engines

ENGINES = load_engines()
HEAD = b"[2026-03-02 09:14:29 TP1] "


def folded(data: bytes, **options: int) -> list[bytes]:
    folder = LineFolder(ENGINES, **options)
    return folder.feed(data) + folder.close()


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\ntwo\n", [b"one", b"two"]),
        (b"one\r\ntwo\r\n", [b"one", b"two"]),
        (b"\rbar 0/2\rbar 1/2\rbar 2/2\nnext\n", [b"bar 2/2", b"next"]),
        (b"\rbar 0/2\n\rbar 1/2\n", [b"bar 0/2", b"bar 1/2"]),
        (b"\rbar 0/2" + HEAD + b"Load\n\rbar 2/2\n", [b"bar 0/2", HEAD + b"Load", b"bar 2/2"]),
        (b"\rbar 0/2\rbar 1/2" + HEAD + b"Load\n", [b"bar 1/2", HEAD + b"Load"]),
        (b"\rlong bar\rbar     \n", [b"bar"]),
        (b"a\n\nb\n", [b"a", b"", b"b"]),
        (b"......" + HEAD + b"x\n", [b"......", HEAD + b"x"]),
        (b"open", [b"open"]),
        (b"", []),
    ],
)
def test_display_lines(data: bytes, lines: list[bytes]) -> None:
    assert folded(data) == lines


def test_the_open_line_is_the_newest_state_of_its_bar() -> None:
    folder = LineFolder(ENGINES)
    assert folder.feed(b"one\n\rbar 0/2\rbar 1/2") == [b"one"]
    assert folder.tail == b"bar 1/2"
    folder.feed(b"\r")
    assert folder.tail == b"bar 1/2"
    assert folder.feed(b"bar 2/2\n") == [b"bar 2/2"]
    assert folder.tail == b""


@given(st.integers(1, 3), st.lists(st.integers(0, 9000), max_size=12))
@settings(max_examples=25, deadline=None)
def test_lines_do_not_depend_on_the_chunks(seed: int, places: list[int]) -> None:
    data = sglang_log("0.5.23", tp=2, shards=5, shapes=3, seed=seed)
    folder = LineFolder(ENGINES)
    edges = [0, *sorted(place % len(data) for place in places), len(data)]
    got = [line for begin, end in itertools.pairwise(edges) for line in folder.feed(data[begin:end])]
    assert got + folder.close() == folded(data)


def test_a_bar_that_is_drawn_for_ever_stays_small() -> None:
    folder = LineFolder(ENGINES, limit=1000)
    for count in range(20_000):
        folder.feed(b"\rbar %d/20000" % count)
    assert folder.tail == b"bar 19999/20000"
    assert folder.feed(b"\n") == [b"bar 19999/20000"]


def test_a_line_without_end_is_cut() -> None:
    folder = LineFolder(ENGINES, limit=100)
    for _ in range(50):
        folder.feed(b"x" * 100_000)
    assert folder.feed(b"\nnext\n") == [b"x" * 100, b"next"]
