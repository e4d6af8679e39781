"""The console on other terminals: few colours, none that is known, another encoding, tmux and screen."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from terminal import Terminal

from bringup.ui.terminal import why_not

COMMAND = [sys.executable, "-m", "bringup", "watch", "--port", "9"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "host").mkdir()
    own = {"BRINGUP_PLACES": str(tmp_path / "host"), "BRINGUP_CONFIG_DIR": str(tmp_path / "config")}
    return {**own, "BRINGUP_DATA_DIR": str(tmp_path / "data"), "TMUX": "", "NO_COLOR": ""}


@pytest.mark.parametrize("kind", ["linux", "xterm", "screen", "vt100", "xterm-16color", "tmux-256color"])
def test_terminals_with_few_colours(kind: str, environ: dict[str, str]) -> None:
    with Terminal(COMMAND, env={**environ, "TERM": kind, "COLORTERM": ""}) as terminal:
        terminal.wait_for(b"WAITING", 60)
        terminal.send(b"q")
        assert terminal.end(60) == 0
        assert terminal.has_modes()
        drawn = terminal.seen
    if "256" not in kind:
        assert b"38;2;" not in drawn, "a colour of 24 bits"


@pytest.mark.parametrize("kind", ["dumb", ""], ids=["dumb", "unset"])
def test_terminals_that_are_refused(kind: str, environ: dict[str, str]) -> None:
    with Terminal(COMMAND, env={**environ, "TERM": kind}) as terminal:
        assert terminal.end(60) == 2
        assert b"a terminal that can move its cursor" in terminal.seen
        assert b"\x1b" not in terminal.seen


def test_another_encoding_is_refused_with_a_way_out(environ: dict[str, str]) -> None:
    told = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with Terminal(COMMAND, env={**environ, **told}) as terminal:
        assert terminal.end(60) == 2
        assert b"LC_ALL=C.UTF-8" in terminal.seen
        assert b"\x1b" not in terminal.seen


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"LC_ALL": "", "LANG": ""}], ids=str)
def test_the_c_locale_is_drawn_in_utf8(locale: dict[str, str], environ: dict[str, str]) -> None:
    with Terminal(COMMAND, env={**environ, **locale}) as terminal:
        terminal.wait_for("○ WAITING".encode(), 60)
        terminal.send(b"q")
        assert terminal.end(60) == 0


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "utf8", "UTF_8"])
def test_names_of_the_encoding(encoding: str) -> None:
    assert why_not({"TERM": "xterm"}, is_tty=True, encoding=encoding) == ""


@pytest.mark.parametrize("program", ["tmux", "screen"])
def test_inside_a_multiplexer(program: str, environ: dict[str, str], tmp_path: Path) -> None:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    # Both take their own environment to the program; tmux would not join one of the machine's own.
    words = [f"{name}={value}" for name, value in environ.items() if name != "TMUX"]
    inner = ["env", *words, *COMMAND]
    outer = {"TMUX": "", "TMUX_TMPDIR": str(tmp_path), "SCREENDIR": str(tmp_path / "screens"), "LC_ALL": "C.UTF-8"}
    (tmp_path / "screens").mkdir(mode=0o700)
    argv = [found, "-L", "bringup-test", "-f", "/dev/null", "new-session", *inner]
    with Terminal(argv if program == "tmux" else [found, "-U", *inner], env=outer) as terminal:
        terminal.wait_for(b"WAITING", 60)
        if program == "tmux":
            resized(found, outer)
        terminal.send(b"q")
        # The multiplexer ends with the only program in it, and gives the outer terminal back.
        assert terminal.end(60) == 0
        assert terminal.has_modes()


def resized(tmux: str, environ: dict[str, str]) -> None:
    """Split the window and join it again: the console has half of it meanwhile."""
    ask = [tmux, "-L", "bringup-test"]
    for words in (("split-window", "sleep 1"), ("resize-pane", "-t", "0", "-y", "3")):
        subprocess.run([*ask, *words], env={**environ, "PATH": "/usr/bin:/bin"}, check=True, timeout=20)
    time.sleep(2)
