"""What is wrong on the command line or with the terminal: a sentence, its exit code, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from terminal import Terminal

from bringup.cli import build, run
from bringup.core.errors import BringupError

COMMANDS = {
    *("watch", "status", "wait", "stop", "restart", "demo", "explain", "replay", "record", "report"),
    "diagnose",
    *("history", "config", "completion"),
}
PROGRAM = [sys.executable, "-m", "bringup"]


def refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command line that cannot be done as asked; return what is said of it."""
    assert run(argv) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("bringup: ")
    assert len(said.err.splitlines()) == 2, "what happened, and what to do"
    return said.err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["nope"], ['Unknown command "nope"', "watch, status, wait", "`bringup --help`"]),
        (["--nope"], ["--nope", "`bringup --help`"]),
        ([""], ['Unknown command ""']),
        (["watch", "--nope"], ["Unknown option: --nope.", "`bringup watch --help`"]),
        (["watch", "-host"], ["Unknown option: -host.\n"]),
        (["watch", "--", "-oProxyCommand=x"], ["'-oProxyCommand=x' is not the name of a host", "NAME, USER@NAME"]),
        (["watch", "a b"], ["'a b' is not the name of a host"]),
        (["watch", ""], ["'' is not the name of a host"]),
        (["watch", "gpu-a:22"], ["is not how ssh takes a port", "ssh://gpu-a:22"]),
        (["watch", "gpu-a", "gpu-a"], ["gpu-a is named more than once"]),
        (["watch", "gpu-a", "--kube", "pod"], ["'pod' cannot be what --kube names", "NAMESPACE/POD"]),
        (["watch", "--port", "0"], ["no port 0", "from 1 to 65535"]),
        (["watch", "--port", "99999"], ["no port 99999", "from 1 to 65535"]),
        (["watch", "--port", "-1"], ["no port -1"]),
        (["watch", "--port", "abc"], ["--port takes a whole number, and 'abc' was given"]),
        (["watch", "--port"], ["--port needs a value"]),
        (["watch", "--port", "1", "--port", "2"], ["--port is given more than once"]),
        (["watch", "--pid", "0"], ["no process 0", "launcher"]),
        (["watch", "--log", ""], ["name of the log is empty"]),
        (["watch", "--read-only=x"], ["--read-only takes no value"]),
        (["restart", "a", "b"], ["A restart is of one host: b is too much."]),
        (["restart", "a", "--discard"], ["at which this could be confirmed", "forget what was left in the middle"]),
        (["demo", "nope"], ["no demo scenario 'nope'", "healthy", "stall"]),
        (["demo", "--speed", "0"], ["speed of 0", "1 is life"]),
        (["demo", "--speed", "-1"], ["speed of -1"]),
        (["demo", "--speed", "nan"], ["speed of nan"]),
        (["demo", "--speed", "inf"], ["speed of inf"]),
        (["demo", "--speed", "fast"], ["--speed takes a number, and 'fast' was given"]),
        (["explain", "/no/such/file"], ["/no/such/file"]),
    ],
)
def test_a_command_line_that_cannot_be_done_is_told(
    argv: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(argv, capsys)
    assert not [word for word in words if word not in said], said


def test_nothing_asked_is_answered_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    said = capsys.readouterr()
    assert "Usage: bringup COMMAND" in said.out
    assert said.err == ""


def test_the_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bringup ")


@pytest.mark.parametrize("command", [[], *([name] for name in sorted(COMMANDS))])
def test_help_shows_no_internals(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--help"]) == 0
    shown = capsys.readouterr().out
    for internal in ('""', "None", "False", "True", "Annotated", "Parameter(", "empty-", "``", "Raises"):
        assert internal not in shown, shown


def test_every_command_of_the_program_is_in_the_tests_of_its_help() -> None:
    assert {name for name in build() if not name.startswith("-")} == COMMANDS


def test_a_defect_is_a_sentence_that_can_be_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> object:
        raise KeyError("rank")

    monkeypatch.delenv("BRINGUP_TRACEBACK", raising=False)
    monkeypatch.setattr("bringup.demo.scenarios.load", broken)
    assert run(["demo", "list"]) == 1
    said = capsys.readouterr().err
    assert "bringup itself failed in cli/demo.py, line " in said
    assert "KeyError: 'rank'" in said
    assert "defect of bringup" in said
    assert "Traceback" not in said
    monkeypatch.setenv("BRINGUP_TRACEBACK", "1")
    assert run(["demo", "list"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_what_a_host_put_into_an_error_cannot_reach_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hostile(*_: object) -> object:
        raise BringupError("box says \x1b]52;c;ZXZpbA==\x07hello.", "Look at \x1b[2Jit.")

    monkeypatch.setattr("bringup.demo.scenarios.load", hostile)
    assert run(["demo", "list"]) == 1
    assert capsys.readouterr().err == "bringup: box says hello.\n         Look at it.\n"


# --- streams and terminals ---


def told_without_terminal(**streams: object) -> str:
    done = subprocess.run([*PROGRAM, "watch", "box"], stderr=subprocess.PIPE, text=True, timeout=60, **streams)  # type: ignore[call-overload]
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return str(done.stderr)


def test_a_pipe_is_no_terminal() -> None:
    said = told_without_terminal(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert "needs a terminal, and this is not one" in said
    assert "`bringup status HOST` and `bringup wait HOST` need none" in said


def test_closed_streams_are_no_terminal() -> None:
    line = f"exec {sys.executable} -m bringup watch box <&- >&-"
    done = subprocess.run(["/bin/sh", "-c", line], stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["--help", "--version", "demo list", "watch --help"])
@pytest.mark.parametrize("end", [">&-", "| head -c 1", "2>&- >&-"])
def test_a_reader_that_has_gone_is_no_error(command: str, end: str) -> None:
    line = f"{sys.executable} -m bringup {command} {end}"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def end_of(argv: list[str], env: Mapping[str, str]) -> tuple[int, str]:
    with Terminal([*PROGRAM, *argv], env=dict(env)) as terminal:
        status = terminal.end()
        assert terminal.has_modes()
        return status, terminal.seen.decode()


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_move_its_cursor(term: str) -> None:
    status, said = end_of(["watch", "box"], {"TERM": term})
    assert status == 2
    assert "TERM says it cannot" in said
    assert "\x1b" not in said, "nothing was drawn"


@pytest.mark.parametrize("command", [["watch", "box"], ["demo"]])
def test_an_unknown_theme_is_told_with_those_that_are_known(command: list[str]) -> None:
    status, said = end_of([*command, "--theme", "solarised"], {})
    assert status == 2
    assert "There is no theme 'solarised'." in said
    assert {"dark", "light", "ansi", "nord"} <= set(said.replace(",", " ").split())
    assert "\x1b" not in said, "nothing was drawn"


@pytest.mark.skipif(sys.platform != "linux", reason="the simulated host needs Linux")
@pytest.mark.skipif(os.environ.get("TMPDIR", "") != "", reason="another folder is named already")
def test_a_demo_without_a_folder_says_what_it_needs(tmp_path: Path) -> None:
    program = f"import sys, tempfile\ntempfile.tempdir = {str(tmp_path / 'missing')!r}\n"
    program += "from bringup.cli import main\nsys.argv[1:] = ['demo']\nmain()\n"
    with Terminal([sys.executable, "-c", program]) as terminal:
        assert terminal.end() == 1
        said = terminal.seen.decode()
        assert terminal.has_modes()
    assert "no folder to build its host in: No such file or directory" in said
    assert "TMPDIR" in said
    assert "Traceback" not in said
