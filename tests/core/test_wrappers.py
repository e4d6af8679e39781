from __future__ import annotations

import pytest

from bringup.core.errors import UsageError
from bringup.core.wrappers import Peeled, Peeler, parse_wrappers
from bringup.engines import load_wrappers

WRAPPERS = load_wrappers()
HEADER = b"[2026-03-02 09:14:29 TP0] "


def has_header(text: bytes) -> bool:
    return text.startswith(HEADER)


def peeler() -> Peeler:
    return Peeler(WRAPPERS)


@pytest.mark.parametrize(
    ("before", "origin", "stamp"),
    [
        (b"engine-1  | ", "engine-1", b""),
        (b"[pod/demo-0/engine] ", "demo-0/engine", b""),
        (b"2026-03-02T07:14:29.123456789Z ", "", b"2026-03-02T07:14:29.123456789Z"),
        (b"[pod/demo-0/engine] 2026-03-02T07:14:29.123456789Z ", "demo-0/engine", b"2026-03-02T07:14:29.123456789Z"),
        (b"2026-03-02T07:14:29.123456789Z stderr F ", "", b"2026-03-02T07:14:29.123456789Z"),
        (b"Mar  2 09:14:29 gpu-c sglang[35219]: ", "gpu-c", b"Mar  2 09:14:29"),
        (b"Mar 12 09:14:29 gpu-c sglang[35219]: 3: ", "gpu-c/3", b"Mar 12 09:14:29"),
        (b"0: ", "0", b""),
        (b"[gpu-a] ", "gpu-a", b""),
        (b"gpu-a: ", "gpu-a", b""),
        (b"sglang  | ", "sglang", b""),
        (b"1: engine-2 | ", "1/engine-2", b""),
    ],
)
def test_wrappers_in_any_sequence_are_taken_off(before: bytes, origin: str, stamp: bytes) -> None:
    text = HEADER + b"Load weight begin."
    assert peeler().peel(before + text, has_header) == Peeled(text, origin, stamp)


@pytest.mark.parametrize(
    "line",
    [
        b"[Gloo] Rank 0 is connected to 7 peer ranks.",
        b"0: a list of things",
        b"RuntimeError: NCCL error",
        b"Capturing batches (bs=8 avail_mem=12.69 GB):   0%|          | 0/8 [00:00<?, ?it/s]",
        b"name | value",
        b'  File "/x.py", line 1, in <module>',
        HEADER + b"Load weight begin.",
        b"",
    ],
)
def test_text_that_only_looks_wrapped_stays(line: bytes) -> None:
    assert peeler().peel(line, has_header) == Peeled(line)


def test_an_unsure_wrapper_counts_after_it_has_proved_itself_and_only_for_that_place() -> None:
    peel = peeler()
    assert peel.peel(b"0: bar 1/4", has_header).origin == ""
    assert peel.peel(b"0: " + HEADER + b"x", has_header).origin == "0"
    assert peel.peel(b"0: bar 1/4", has_header) == Peeled(b"bar 1/4", "0")
    assert peel.peel(b"0:", has_header) == Peeled(b"", "0")
    assert peel.peel(b"1: a list", has_header).origin == ""


def test_a_hostile_place_is_made_harmless() -> None:
    peel = peeler()
    found = peel.peel("[pod/a\u202e\x07/b] x".encode(), has_header)
    assert found == Peeled(b"x", "a\ufffd\ufffd/b")


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ({"name": "w"}, "needs a pattern"),
        ({"name": "w", "match": "("}, "not valid"),
        ({"name": "w", "match": "^x"}, "has no sample"),
        ({"name": "w", "match": "^x", "samples": ["y"]}, "does not match it"),
    ],
)
def test_a_wrong_wrapper_is_rejected_with_a_sentence(table: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        parse_wrappers({"wrappers": [table]}, "wrappers.toml")
    assert "wrappers.toml: wrapper 'w'" in str(caught.value)


def test_without_wrappers_nothing_is_taken_off() -> None:
    assert Peeler(parse_wrappers({}, "none")).peel(b"engine-1  | x", has_header) == Peeled(b"engine-1  | x")
