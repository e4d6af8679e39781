"""Where the answer cannot be written: one sentence, an exit code that is no state's, and no report of a defect."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from bringup.cli.exits import BY_STATE
from bringup.cli.output import emit, tell
from bringup.cli.progress import Progress
from bringup.core.errors import OutputRefused

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
LOG = "[2026-03-02 09:00:00] server_args=ServerArgs(model_path='/m', tp_size=1)\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRINGUP_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "data"


def ended(argv: list[str], *, out: Path | None = None, err: Path | None = None) -> tuple[int, str]:
    """Return the exit code and what stood on standard error."""
    with (out or Path(os.devnull)).open("wb") as answer, (err or Path(os.devnull)).open("wb") as beside:
        run = subprocess.run(
            [sys.executable, "-m", "bringup", *argv],
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=beside if err else subprocess.PIPE,
            check=False,
            timeout=120,
        )
    return run.returncode, (run.stderr or b"").decode()


@needs_full
@pytest.mark.parametrize(
    ("argv", "unbuffered"),
    [
        (["wait", "--help"], ""),
        (["--version"], "1"),
        (["config", "sample"], "1"),
        (["history"], "1"),
        (["history"], ""),
    ],
)
def test_a_full_disk_is_no_defect_and_no_state(
    argv: list[str], unbuffered: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    code, said = ended(argv, out=FULL)
    assert code == 74
    assert said.splitlines() == [
        "bringup: The answer cannot be written to standard output: No space left on device.",
        "         This exit code says nothing of a server.",
    ]
    assert not data.exists(), "there is nothing to report"


@needs_full
def test_a_verdict_that_cannot_be_written_is_told_as_no_verdict(tmp_path: Path, data: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(LOG)
    code, said = ended(["explain", str(log), "--exit-code", "--json"], out=FULL)
    assert (code, len(said.splitlines())) == (74, 2)


def test_the_code_is_of_no_state() -> None:
    assert OutputRefused.exit_code not in BY_STATE.values()


@needs_full
def test_a_full_standard_error_changes_no_exit_code(data: Path) -> None:
    assert ended(["nope"], err=FULL)[0] == 2
    assert ended(["history"], out=FULL, err=FULL)[0] == 74
    assert not data.exists()


def test_a_reader_that_has_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, stream)
        emit("an answer\n")
        tell("and a word beside it\n")


def test_a_terminal_without_a_size_has_room_for_a_line() -> None:
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(theirs, "w") as stream:
            assert os.get_terminal_size(stream.fileno()).columns == 0
            assert Progress(stream, {"TERM": "xterm"}).columns == 80
    finally:
        os.close(ours)
