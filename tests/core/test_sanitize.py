from __future__ import annotations

from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.core.sanitize import clean, clean_text, without_colours

HOSTILE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain [bold] text", "plain [bold] text"),
        (b"\x1b[1;31mred\x1b[0m text", "red text"),
        (b"\x1b]0;title\x07after", "after"),
        (b"\x1b]52;c;c2VjcmV0\x07after", "after"),
        (b"\x1b]52;c;c2VjcmV0\x1b\\after", "after"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP+q544e\x1b\\after", "after"),
        (b"\x1b[2Jcleared\x1b[A", "cleared"),
        (b"\x1bcreset", "reset"),
        (b"a\tb", "a       b"),
        (b"one\r\ntwo\nthree", "one two three"),
        ("██ 67% 你好 🏖".encode(), "██ 67% 你好 🏖"),
        ("no\u00a0break".encode(), "no\u00a0break"),
        (b"\xff\xfe broken", "\ufffd\ufffd broken"),
        (b"nul\x00 del\x7f", "nul\ufffd del\ufffd"),
        ("c1\u009b31m".encode(), "c1\ufffd31m"),
        ("rtl\u202e zw\u200b bom\ufeff".encode(), "rtl\ufffd zw\ufffd bom\ufffd"),
        (b"\x1b]0;never closed", "\ufffd]0;never closed"),
        (b"", ""),
    ],
)
def test_what_is_shown(data: bytes, shown: str) -> None:
    assert clean(data) == shown


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"\x1bP+q544e\x1b\\after", b"after"),
        (b"\x1b_payload\x07after", b"after"),
        (b"\x1bPnever closed", b"never closed"),
        (b"\x1b[1mbold\x1b[0m \x1b]0;title\x07after", b"bold after"),
    ],
)
def test_a_record_is_read_without_escapes_and_what_they_carry(data: bytes, left: bytes) -> None:
    assert without_colours(data) == left


def test_text_with_lone_surrogates_can_be_printed() -> None:
    assert clean_text("a\udc80b").encode() == "a\ufffdb".encode()


@given(st.binary(max_size=200) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=200, deadline=None)
def test_nothing_that_a_terminal_obeys_survives(data: bytes) -> None:
    shown = clean(data)
    assert not [letter for letter in shown if category(letter) in HOSTILE]
    assert clean_text(shown) == shown


@given(
    st.lists(st.sampled_from(["\x1b", "[", "]", "P", "52;c;", "31m", "\x07", "\\", "\x9c", "x", "\x18"]), max_size=20)
)
@settings(max_examples=200, deadline=None)
def test_no_escape_survives_any_broken_sequence(parts: list[str]) -> None:
    assert not set(clean("".join(parts).encode())) & {"\x1b", "\x07", "\x9c", "\x18"}
