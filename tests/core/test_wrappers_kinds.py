"""Wrappers that are more than a beginning: mappings, lines cut in pieces, marks at the end, indentation."""

from __future__ import annotations

import pytest

from bringup.core.wrappers import Peeled, Peeler
from bringup.engines import load_wrappers

WRAPPERS = load_wrappers()
HEADER = b"[2026-03-02 09:14:29 TP0] "
STAMP = b"2026-03-02T08:14:29.123456789Z"


def has_header(text: bytes) -> bool:
    return text.startswith(HEADER)


def test_a_mapping_gives_its_text_and_its_time() -> None:
    record = (
        b'{"log":"\\u001b[36m[2026-03-02 09:14:29 TP0] a \\"b\\"\\u001b[0m\\r\\n","stream":"stderr","time":"'
        + STAMP
        + b'"}'
    )
    assert Peeler(WRAPPERS).peel(record, has_header) == Peeled(HEADER + b'a "b"', "", STAMP)


@pytest.mark.parametrize("record", [b'{"log":"cut', b'{"log":7}', b'{"a": {"log":"x"}}', b"{", b'{"message": "hello"}'])
def test_what_only_looks_like_one_stays(record: bytes) -> None:
    assert Peeler(WRAPPERS).peel(record, has_header) == Peeled(record)


def test_an_unsure_mapping_counts_after_a_header_was_in_it() -> None:
    peeler = Peeler(WRAPPERS)
    first = b'{"message": "[2026-03-02 09:14:29 TP0] x", "timestamp": "t"}'
    assert peeler.peel(first, has_header).text == HEADER + b"x"
    assert peeler.peel(b'{"message": "hello"}', has_header).text == b"hello"


def test_a_line_cut_by_the_runtime_is_put_together_place_by_place() -> None:
    peeler = Peeler(WRAPPERS)
    a, b = b"[pod/a/c] " + STAMP + b" stderr ", b"[pod/b/c] " + STAMP + b" stderr "
    assert peeler.peel(a + b"P " + HEADER + b"one ", has_header).partial
    assert peeler.peel(b + b"F " + HEADER + b"other", has_header).text == HEADER + b"other"
    assert peeler.peel(a + b"P two ", has_header).text == b""
    assert peeler.peel(a + b"F three", has_header) == Peeled(HEADER + b"one two three", "a/c", STAMP)
    assert peeler.peel(a + b"F four", has_header).text == b"four"


def test_a_record_that_is_not_whole_is_not_kept() -> None:
    peeler = Peeler(WRAPPERS)
    peeler.peel(STAMP + b" stderr P beginning", has_header, whole=False)
    assert peeler.peel(STAMP + b" stderr F end", has_header).text == b"end"


@pytest.mark.parametrize(
    "tail",
    [
        b" [repeated 15x across cluster]",
        b" [repeated 2x across cluster] (Ray deduplicates logs by default. Set X to 0.)",
    ],
)
def test_rays_mark_at_the_end_goes_too(tail: bytes) -> None:
    found = Peeler(WRAPPERS).peel(b"(Actor pid=801, ip=10.0.0.82) " + HEADER + b"x" + tail, has_header)
    assert found == Peeled(HEADER + b"x", "Actor pid=801, ip=10.0.0.82", process=True)


@pytest.mark.parametrize(
    "name", [b"(APIServer pid=1) ", b"(Worker_TP0 pid=1) ", b"(Worker pid=1) ", b"(EngineCore pid=1) "]
)
def test_vllms_own_names_are_no_wrappers(name: bytes) -> None:
    assert Peeler(WRAPPERS).peel(name + b"x", has_header).text == name + b"x"


def test_of_an_indentation_only_what_stood_before_a_header_is_taken_off() -> None:
    peeler = Peeler(WRAPPERS)
    assert peeler.peel(b'    File "x"', has_header).text == b'    File "x"'
    assert peeler.peel(b"    " + HEADER + b"x", has_header).text == HEADER + b"x"
    assert peeler.peel(b'      File "x"', has_header).text == b'  File "x"'
    assert peeler.peel(b"  less", has_header).text == b"  less"
