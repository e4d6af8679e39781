"""Every reader of what others wrote, on bytes that nobody wrote: seconds here, longer by hand (see fuzzing.py).

`BRINGUP_FUZZ=long` gives each target 20,000 examples.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fuzz.seeds import SEEDS
from fuzz.targets import TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CRASHES = Path(__file__).parent / "crashes"
LONG = os.environ.get("BRINGUP_FUZZ") == "long"
EXAMPLES = settings(
    max_examples=20_000 if LONG else 40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=not LONG
)
PIECES = st.one_of(
    st.sampled_from([
        b"\0", b"\x1b[31m", b"\x1b]52;c;aGk=\x1b\\", b"\x1bP", b"\x9b", b"\xff", b"\xc3", b"\xed\xb3\xbf", b"\r", b"\n",
        b"\t", b"\xe2\x80\xae", b"\xe2\x80\x8b", b"9" * 400, b"-1", b"1e999", b"NaN", b"{", b"}", b"[", b"]", b'"',
        b"\\", b"\\ud800", b"%s", b"{0}", b"''", b"=", b" ", b"\x1f", b"*" * 40, b"(?P<", b"[[", b"Infinity", b"null",
    ]),
    st.binary(max_size=6),
)  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn, seeds: tuple[bytes, ...]) -> bytes:
    """A seed with pieces put in, parts taken out, doubled or put elsewhere; or bytes of no format at all."""
    if draw(st.integers(0, 7)) == 0:
        return draw(st.binary(max_size=400))
    data = draw(st.sampled_from(seeds))
    for kind in draw(st.lists(st.sampled_from(["put", "cut", "twice", "over"]), min_size=1, max_size=8)):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 60)))
        piece = draw(PIECES)
        data = {
            "put": data[:at] + piece + data[at:],
            "cut": data[:at] + data[end:],
            "twice": data[:end] + data[at:],
            "over": data[:at] + piece + data[end:],
        }[kind]
    return data


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_seeds(name: str) -> None:
    for seed in SEEDS[name]:
        TARGETS[name](seed)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_spoilt_seeds(name: str) -> None:
    @EXAMPLES
    @given(data=spoilt(SEEDS[name]))
    def holds(data: bytes) -> None:
        TARGETS[name](data)

    holds()


@pytest.mark.parametrize("file", sorted(CRASHES.glob("*/*")), ids=lambda file: f"{file.parent.name}-{file.name}")
def test_what_once_fell_out(file: Path) -> None:
    TARGETS[file.parent.name](file.read_bytes())
