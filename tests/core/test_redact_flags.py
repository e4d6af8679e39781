"""Flags whose next word is a secret, and flags that only say no: whatever stands around them."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bringup.core.redact import mask, mask_argv

NAMES = st.sampled_from(
    ["password", "ask-password", "login-passwd", "passphrase", "api-key", "hf-token", "client-secret"]
)
DASHES = st.sampled_from(["--", "-"])
WORDS = st.sampled_from(
    ["serve", "--port", "30000", "--no-verify", "--no-block", "my model", "a.service", "--user=ann"]
)
SECRET = st.sampled_from(["Xs3cret", "Xs3cret and more", "Xs3cret/+="])


@given(before=st.lists(WORDS, max_size=3), dashes=DASHES, name=NAMES, after=st.lists(WORDS, max_size=3))
@settings(deadline=None)
def test_a_flag_that_says_no_hides_nothing(before: list[str], dashes: str, name: str, after: list[str]) -> None:
    argv = (*before, f"{dashes}no-{name}", *after)
    assert mask_argv(argv) == argv
    assert mask(shlex.join(argv)) == shlex.join(argv)
    assert mask(shlex.join(argv).encode()) == shlex.join(argv).encode()


@given(before=st.lists(WORDS, max_size=3), name=NAMES, joint=st.booleans(), secret=SECRET, after=st.lists(WORDS))
@settings(deadline=None)
def test_a_flag_with_a_secret_hides_it_beside_those_that_say_no(
    before: list[str], name: str, joint: bool, secret: str, after: list[str]
) -> None:
    flag = [f"--{name}={secret}"] if joint else [f"--{name}", secret]
    argv = (*before, "--no-ask-password", *flag, *after)
    shown = mask_argv(argv)
    assert shown[: len(before) + 1] == argv[: len(before) + 1]
    for text in (" ".join(shown), mask(shlex.join(argv)), mask(shlex.join(argv).encode()).decode()):
        assert "Xs3cret" not in text
        assert "***" in text
        assert "--no-ask-password ***" not in text


@pytest.mark.parametrize(
    "text",
    [
        "run --no-smtp-password=Xs3cret --x",
        "run --no-reply-password Xs3cret --x",
        "run --noreply-password Xs3cret --x",
        "run --node-password Xs3cret --x",
        "run --no-verify --api-key Xs3cret --x",
        "the db-password 'Xs3cret and more' --x",
        "the --password 'Xs3cret and more' --x",
    ],
)
def test_what_only_begins_like_no_is_hidden(text: str) -> None:
    assert "Xs3cret" not in mask(text)
    assert "Xs3cret" not in mask(text.encode()).decode()
    assert mask(text).endswith("*** --x")
