"""An edited command keeps the secrets that were not typed again."""

from __future__ import annotations

import pytest

from bringup.core.errors import UsageError
from bringup.core.redact import mask_argv
from bringup.hosts.control.editing import unmask

ARGV = (
    "python3",
    "-m",
    "x",
    "--api-key",
    "first-secret",
    "--hf-token",
    "second-secret",
    "--url=https://me:pw@h/",
    "--tp",
    "8",
)


def test_what_is_masked_is_kept() -> None:
    shown = mask_argv(ARGV)
    assert "secret" not in " ".join(shown)
    assert unmask(ARGV, shown) == ARGV


def test_words_may_move_and_change() -> None:
    shown = list(mask_argv(ARGV))
    edited = [*shown[:3], "--hf-token", "***", "--tp", "4", shown[7]]
    assert unmask(ARGV, edited) == ("python3", "-m", "x", "--hf-token", "second-secret", "--tp", "4", ARGV[7])
    assert unmask(ARGV, ["a", "--api-key", "typed"]) == ("a", "--api-key", "typed")


@pytest.mark.parametrize("edited", [["***"], ["--tp", "***"], ["--other=***"]])
def test_a_mask_that_stands_for_nothing(edited: list[str]) -> None:
    with pytest.raises(UsageError, match="does not tell which secret is meant"):
        unmask(ARGV, edited)


def test_each_of_many_secrets_of_one_flag_is_kept() -> None:
    argv = ("vllm", "serve", "m", "--api-key", "one", "two", "three", "--port", "1")
    shown = mask_argv(argv)
    assert shown[4:7] == ("***",) * 3
    assert unmask(argv, shown) == argv
    assert unmask(argv, [*shown[:5], "--port", "2"]) == (*argv[:5], "--port", "2")


def test_asterisks_of_its_own() -> None:
    assert unmask(("x", "--pattern", "a***b"), ("x", "--pattern", "a***b")) == ("x", "--pattern", "a***b")
