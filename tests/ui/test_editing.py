"""A command line as text and back, and what an edit changed."""

from __future__ import annotations

import pytest
from ui.stages import ARGV

from bringup.core.errors import UsageError
from bringup.ui.editing import difference, groups, to_argv, to_text
from bringup.ui.paint.difference import paint_difference
from bringup.ui.paint.row import plain

ODD = (
    "/opt/my env/bin/python", "-m", "vllm.entrypoints", "serve", "--override", '{"a": [1, "b\'c"]}', "--empty", "",
    "--seed", "-1", "--api-key", "***", "--url=https://***@hub/x", "-tp", "8", "--stop", "line\nbreak",
    "--glob", "*.bin",
)  # fmt: skip


@pytest.mark.parametrize("argv", [ARGV, ODD, ("vllm",), ("a b",)], ids=["sglang", "odd", "one", "blank"])
def test_text_and_back_is_the_same_command(argv: tuple[str, ...]) -> None:
    assert to_argv(to_text(argv)) == argv


def test_each_flag_has_a_line_with_its_values() -> None:
    lines = to_text(ARGV).splitlines()
    assert lines[:3] == ["python -m sglang.launch_server", "--model-path /models/Kimi-K2.5-INT4", "--tp 8"]
    assert "--trust-remote-code" in lines
    assert ("--seed", "-1") in groups(ODD)


def test_a_hidden_secret_needs_no_quotes() -> None:
    assert "--api-key ***" in to_text(ODD)


@pytest.mark.parametrize("text", ["", "  \n ", "vllm 'serve", "'' --x"])
def test_what_is_no_command_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError):
        to_argv(text)


def test_the_difference_names_what_went_and_what_came() -> None:
    edited = to_argv(to_text(ARGV).replace("0.88", "0.80").replace("--trust-remote-code\n", "") + "\n--enable-metrics")
    shown = [plain(row) for row in paint_difference(difference(ARGV, edited), 60)]
    assert shown == [
        "- --trust-remote-code",
        "- --mem-fraction-static 0.88",
        "+ --mem-fraction-static 0.80",
        "+ --enable-metrics",
    ]
    assert paint_difference(difference(ARGV, ARGV), 60) == []


def test_a_long_difference_is_cut_with_a_count() -> None:
    rows = [plain(row) for row in paint_difference(difference(ARGV, ("vllm",)), 60, most=3)]
    assert len(rows) == 3
    assert "more changes" in rows[-1]


def test_a_new_secret_is_not_shown() -> None:
    before = ("vllm", "serve", "--api-key", "***")
    shown = " ".join(plain(row) for row in paint_difference(difference(before, (*before[:3], "sk-anothersecret1")), 60))
    assert "+ --api-key ***" in shown
    assert "anothersecret" not in shown
