"""`bringup diagnose`: what the key collects, from a command line, over a real sshd."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from fakehost import running
from headless import Way
from headless import way as way
from sshd import real_sshd as real_sshd

from bringup.cli import run


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["-o", "--port"], "-o needs the name of a file, and --port was given."),
        (["-o", "/nowhere/at/all.txt"], "There is no folder /nowhere/at."),
        (["-o", "/tmp"], "/tmp is a directory."),
    ],
)
def test_a_place_that_is_none_is_said_before_a_host_is_asked(
    argv: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diagnose", *argv]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.long
async def test_one_file_with_the_verdict_at_its_head(way: Way, tmp_path: Path) -> None:
    folder, log = tmp_path / "server", tmp_path / "server.log"
    folder.mkdir()
    words = ("--model-path", "/models/tiny", "--port", "30123", "--api-key", "very-secret-key")
    with log.open("w") as output, running(folder, 2, words, stdout=output, stderr=output) as tree:
        tree.become_ranks()
        tree.launcher.do("print", "a line of the log with HF_TOKEN=hf_abcdefghijklmnop")
        told = await way.run("diagnose", "box", "--pid", str(tree.pid))
        printed = await way.run("diagnose", "box", "--pid", str(tree.pid), "-o", "-")
        own = await way.run("diagnose", "box", "--pid", str(tree.pid), "-o", str(tmp_path / "mine.txt"))
    assert (told.code, told.err) == (0, "")
    (path,) = (way.folder / "data" / "reports").iterdir()
    assert f"The diagnosis is in {path}." in told.out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    heads = [line for line in text.splitlines() if line.startswith("== ")]
    assert heads[:2] == ["== verdict", "== evidence"]
    assert heads.index("== the server") < heads.index("== nvidia-smi") < heads.index("== machine")
    for child in tree.children:
        assert f"== kernel stack of {child.pid}" in heads
    assert "a line of the log with HF_TOKEN=***" in text
    assert "very-secret-key" not in text
    assert printed.code == 0
    assert printed.out.startswith("bringup diagnosis of box")
    assert own.code == 0
    assert stat.S_IMODE((tmp_path / "mine.txt").stat().st_mode) == 0o600


@pytest.mark.long
async def test_a_host_that_cannot_be_reached(way: Way) -> None:
    told = await way.run("diagnose", "nobody")
    assert (told.code, told.out) == (4, "")
    assert not (way.folder / "data" / "reports").exists()
