"""The README says what is true: keys, commands, files and pictures. `BRINGUP_README=write` puts the keys in anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bringup.cli import run
from bringup.ui.keys import KEYS

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BEGIN, END = "<!-- keys -->\n", "<!-- end of keys -->"


def keys_table() -> str:
    rows = "".join(f"| `{key.shown}` | {key.tooltip} |\n" for key in KEYS)
    return f"{BEGIN}| key | does |\n|---|---|\n{rows}"


def test_the_keys_are_those_of_the_program() -> None:
    text = README.read_text("utf-8")
    begin, end = text.index(BEGIN), text.index(END)
    if os.environ.get("BRINGUP_README") == "write":
        README.write_text(text[:begin] + keys_table() + text[end:], "utf-8")
        return
    assert text[begin:end] == keys_table()


@pytest.mark.parametrize(
    "command",
    [
        "watch",
        "status",
        "wait",
        "stop",
        "diagnose",
        "config",
        "completion",
        "demo",
        "explain",
        "record",
        "replay",
        "history",
        "report",
    ],
)
def test_every_command_is_told_of_and_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"bringup {command}" in README.read_text("utf-8")
    assert run([command, "--help"]) == 0
    assert f"bringup {command}" in capsys.readouterr().out


def test_every_file_and_picture_named_is_there() -> None:
    text = README.read_text("utf-8")
    named = re.findall(r"`((?:app|tests|styles|\.ci|screenshots)/[\w./-]+)`|\]\((screenshots/[\w.-]+)\)", text)
    assert named
    for pair in named:
        path = ROOT / next(filter(None, pair))
        assert path.exists(), path


def test_the_test_command_stands_alone_on_its_line() -> None:
    block = README.read_text("utf-8").partition("<!-- test command -->")[2].partition("```\n\n")[0]
    assert re.search(r"^python3 -m venv \.venv && .*/pytest$", block, re.MULTILINE)
