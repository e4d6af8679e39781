"""The console fails, is killed, is fed rubbish, is resized without end: the terminal is given back, and it is told."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import sys
import termios
from pathlib import Path

import pytest
from terminal import Terminal

LEFT, CURSOR, MOUSE_OFF = b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l"
PROGRAM = """
import sys, textual.app, textual.drivers.linux_driver as driver
from bringup.cli import main
from bringup.ui.app import BringupApp
from bringup.ui.screens.watch import WatchScreen
SECRET = "--api-key hunter2hunter2 \\x1b]52;c;aGk=\\x07"
def fail(*_, **__):
    raise RuntimeError(SECRET)
class Gone(BaseException):
    pass
def gone(*_, **__):
    raise Gone(SECRET)
{change}
sys.argv = ["bringup", "watch", "--port", "9"]
main()
"""
FAILURES = {
    "drawing": "WatchScreen.paint = fail",
    "mounting": "WatchScreen.on_mount = fail",
    "the driver, half way": "driver.LinuxDriver._request_terminal_sync_mode_support = fail",
    "the driver, at its end": "driver.LinuxDriver._disable_bracketed_paste = fail; WatchScreen.paint = fail",
    "textual itself": "textual.app.App._process_messages_loop = fail",
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    # Actions of other tests that were left half done lie in the host's own folder, and would be asked about.
    (tmp_path / "host").mkdir()
    own = {"BRINGUP_PLACES": str(tmp_path / "host"), "BRINGUP_CONFIG_DIR": str(tmp_path / "config")}
    return {**own, "BRINGUP_DATA_DIR": str(tmp_path / "data")}


def program(change: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM.format(change=change)]


def given_back(terminal: Terminal) -> str:
    """Check that the terminal is as it was; return what stands on the screen from before."""
    assert terminal.has_modes()
    seen = terminal.seen
    assert seen.rindex(LEFT) > seen.rindex(b"\x1b[?1049h")
    assert seen.rindex(CURSOR) > seen.rindex(b"\x1b[?25l") if b"\x1b[?25l" in seen else True
    assert seen.rindex(MOUSE_OFF) > seen.rindex(b"\x1b[?1000h")
    return seen[seen.rindex(LEFT) :].decode()


@pytest.mark.parametrize("change", FAILURES.values(), ids=FAILURES)
def test_a_failure_gives_the_terminal_back_and_keeps_a_report(
    change: str, environ: dict[str, str], tmp_path: Path
) -> None:
    old = os.umask(0)
    try:
        with Terminal(program(change), env=environ, columns=200) as terminal:
            assert terminal.end(60) == 1
            said = given_back(terminal)
    finally:
        os.umask(old)
    (report,) = (tmp_path / "data").glob("crash-*.txt")
    assert "bringup itself failed" in said
    assert "RuntimeError" in said
    assert report.name in said
    assert "Traceback" not in said
    assert (report.stat().st_mode & 0o777, report.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    text = report.read_text()
    assert "Traceback (most recent call last):" in text
    assert "RuntimeError: --api-key ***" in text
    assert "textual 8" in text
    for told in (said, text):
        assert "hunter2" not in told
        assert "aGk=" not in told
    assert "\x1b" not in text


def test_what_ends_the_process_from_within_gives_the_terminal_back(environ: dict[str, str]) -> None:
    with Terminal(program("textual.app.App._process_messages_loop = gone"), env=environ) as terminal:
        assert terminal.end(60) != 0
        given_back(terminal)


def test_bytes_that_are_no_text_are_passed_over(environ: dict[str, str]) -> None:
    with Terminal(program(""), env=environ) as terminal:
        terminal.wait_for(b"WAITING", 60)
        terminal.send(b"\xff\xfe\xc3(")
        terminal.drain(0.5, keep=True)
        terminal.send(b"\x1b[200~\xe9t\xe9\x1b[201~")
        terminal.drain(0.5, keep=True)
        terminal.send(b"q")
        assert terminal.end(60) == 0
        given_back(terminal)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_is_no_crash(number: signal.Signals, code: int, environ: dict[str, str], tmp_path: Path) -> None:
    with Terminal(program(""), env=environ) as terminal:
        terminal.wait_for(b"WAITING", 60)
        os.kill(terminal.pid, number)
        assert terminal.end(60) == code
        given_back(terminal)
    assert not list((tmp_path / "data").glob("crash-*"))


def test_a_storm_of_sizes(environ: dict[str, str]) -> None:
    sizes = [(1, 1), (5, 20), (24, 80), (40, 120), (2, 300), (120, 3), (15, 60), (60, 200)]
    with Terminal(program(""), env=environ) as terminal:
        terminal.wait_for(b"WAITING", 60)
        for number in range(200):
            rows, columns = sizes[number % len(sizes)]
            fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            terminal.drain(0.005 if number % 10 else 0.05)
        fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        terminal.seen = terminal.seen[: terminal.seen.index(b"\x1b[?1049h") + 30]
        terminal.wait_for(b"WAITING", 60)
        terminal.send(b"q")
        assert terminal.end(60) == 0
        assert terminal.has_modes()


def test_ctrl_s_is_a_key_of_ours_and_stops_no_terminal(environ: dict[str, str], tmp_path: Path) -> None:
    """A terminal that is set to stop its output at ^S, and go on at ^Q, does neither while the console is shown."""
    with Terminal(program(""), env=environ) as terminal:
        terminal.wait_for(b"WAITING", 60)
        assert not termios.tcgetattr(terminal.fd)[0] & termios.IXON
        terminal.send(b"\x13")
        terminal.wait_for(b"A page about this start is in", 60)
        (page,) = (tmp_path / "data" / "reports").iterdir()
        assert "<!DOCTYPE html>" in page.read_text("utf-8")
        terminal.send(b"\x12")
        terminal.wait_for(b"\xe2\x97\x8f recording", 60)
        terminal.send(b"\x11")
        assert terminal.end(60) == 0
        given_back(terminal)
        assert termios.tcgetattr(terminal.fd)[0] & termios.IXON
