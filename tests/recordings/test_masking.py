"""Secrets never reach the file, however the log's bytes were cut; what is no secret is not held back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bringup.core.redact import mask
from bringup.recordings.masking import LONGEST, Masking

SECRETS = (b"hf_abcdefgh12345", b"sk-topsecret99", b"hunter2hunter2")
LINES = (
    b"server_args: --api-key hunter2hunter2 --port 30000",
    b"HF_TOKEN=hf_abcdefgh12345 python -m sglang.launch_server",
    b"\r 41%|####      | 26/64 [00:10<00:15,  2.50it/s]",
    b"Authorization: Bearer sk-topsecret99",
    b"https://me:hunter2hunter2@hub.example/x",
    b"nothing here, a key question: who has the token?",
    b"",
    "Gewichte: \u00e4\u00f6 \u2588\u2588".encode(),
)
logs = st.lists(st.sampled_from(LINES), max_size=12).map(b"\n".join)


@given(data=logs, cuts=st.lists(st.integers(0, 2000), max_size=40))
def test_any_cut_gives_the_masked_log(data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    masking = Masking()
    pieces = [masking.feed(data[a:b]) for a, b in pairwise(places)]
    written = b"".join([*pieces, masking.close()])
    assert written == b"".join(mask(line) for line in data.splitlines(keepends=True))
    assert not any(secret in written for secret in SECRETS)


def test_a_bar_that_is_being_drawn_is_not_held_back() -> None:
    masking = Masking()
    assert masking.feed(b"\r  2%|") == b"\r  2%|"
    assert masking.feed(b"2         | 1/64 [00:01<01:03]") == b"2         | 1/64 [00:01<01:03]"


def test_a_beginning_of_a_secret_waits_for_the_rest() -> None:
    masking = Masking()
    assert masking.feed(b"HF_TO") == b""
    assert masking.feed(b"KEN=hf_abcdef") == b""
    assert masking.feed(b"gh12345 x\n") == b"HF_TOKEN=*** x\n"


def test_what_is_before_a_sign_is_not_held_back() -> None:
    masking = Masking()
    assert masking.feed(b" 5%| | 1/64 [00:01<01:03, 1.0s") == b" 5%| | 1/64 [00:01<01:03, 1.0"
    assert masking.feed(b"/it] (num_tokens=8192") == b"s/it] (num_tokens=8192"
    assert masking.feed(b" --api-key hunter2hunter2") == b" --api-"
    assert masking.feed(b"\n") == b"key ***\n"


def test_after_a_gap_the_rest_of_a_line_is_passed_over_for_it_could_be_the_rest_of_a_secret() -> None:
    masking = Masking()
    masking.feed(b"HF_TOKEN=hf_abc")
    masking.skip()
    assert masking.feed(b"def12345") == b""
    assert masking.feed(b"678\nplain\n") == b"plain\n"
    assert masking.feed(b"more\n") == b"more\n"


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    masking = Masking()
    masking.feed(b"token=" + b"a" * LONGEST)
    assert len(masking.feed(b"a" * LONGEST)) < 3 * LONGEST
    assert masking.close() == b"" or len(masking.close()) < LONGEST


def test_the_lines_of_a_private_key_are_masked_however_they_were_cut() -> None:
    body = [b"QUJD" * 16, b"REVG" * 16, b"R0hJ1Q=="]
    text = b"\n".join(
        [b"-----BEGIN RSA PRIVATE KEY-----", *body, b"-----END RSA PRIVATE KEY-----", b"Loading now", b""]
    )
    for size in (1, 7, 50, 1000):
        masking = Masking()
        written = b"".join([masking.feed(text[at : at + size]) for at in range(0, len(text), size)]) + masking.close()
        assert written.split(b"\n")[1:4] == [b"***"] * 3
        assert written.endswith(b"-----END RSA PRIVATE KEY-----\nLoading now\n")
