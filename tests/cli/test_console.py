"""The console on a terminal, from its first frame to the prompt: what it says, its exit code, what it leaves."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sshd import Sshd, free_port, write_key
from sshd import real_sshd as real_sshd
from terminal import Terminal

LEFT_SCREEN = "\x1b[?1049l"
needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh client to read the configuration")
# `bringup watch ...` with another ssh configuration than the user's.
PROGRAM = """
from pathlib import Path
from bringup.cli import console, main
from bringup.hosts.ssh.config import SshOptions
def make_console(host, target, make=console.make_console, **more):
    return make(host, target, **(more | dict(options=SshOptions(ssh_config=Path({config!r})))))
console.make_console = make_console
main()
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


def console(config: Path, *words: str, **size: int) -> Terminal:
    return Terminal([sys.executable, "-c", PROGRAM.format(config=str(config)), "watch", *words], **size)


def press_until(terminal: Terminal, key: bytes, marker: bytes) -> None:
    """Press a key again and again: a dialog does not hear what is typed before it could be read."""
    deadline, patience = time.monotonic() + 120, 0.2
    while marker not in terminal.seen:
        assert time.monotonic() < deadline, terminal.seen[-400:]
        terminal.send(key)
        again = time.monotonic() + patience
        while marker not in terminal.seen and time.monotonic() < again:
            terminal.drain(0.1, keep=True)
        # On a slow machine what the key began is given the time to come to something.
        patience *= 2


def left(terminal: Terminal) -> tuple[int, str]:
    """Wait for the end; return the exit code and what stands below the screen that is gone, on one line."""
    status = terminal.end()
    assert terminal.has_modes()
    seen = terminal.seen.decode()
    assert "Traceback" not in seen
    drawn, _, after = seen.rpartition(LEFT_SCREEN)
    assert "\x1b[?1049h" in drawn
    assert "\x1b[?25h" in after, "the cursor is shown again"
    return status, " ".join(after.split("\x1b")[-1].split())


def test_a_refused_connection_is_told_on_the_screen_and_again_when_it_is_gone(config: Path) -> None:
    port = free_port()
    config.write_text(f"Host box\n  HostName 127.0.0.1\n  Port {port}\n")
    with console(config, "box") as terminal:
        terminal.wait_for(b"NOT CONNECTED")
        terminal.send(b"q")
        status, said = left(terminal)
    assert status == 4
    assert f"bringup: box (127.0.0.1) refused the connection on port {port}: no ssh server listens there." in said


@pytest.mark.long
def test_another_try_that_works_leaves_nothing_to_tell(real_sshd: Sshd, config: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    known.write_text("")
    config.write_text(real_sshd.block("box", known, "StrictHostKeyChecking yes"))
    with console(config, "box", "--port", "9") as terminal:
        terminal.wait_for(b"NOT CONNECTED")
        known.write_text(real_sshd.known_line)
        press_until(terminal, b"r", b"WAITING")
        terminal.send(b"q")
        status, said = left(terminal)
    assert status == 0
    assert "bringup:" not in said


def test_a_refused_login(real_sshd: Sshd, config: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    known.write_text(real_sshd.known_line)
    write_key(tmp_path / "stranger")
    block = real_sshd.block("box", known, "IdentitiesOnly yes")
    config.write_text(block.replace(str(real_sshd.client_key), str(tmp_path / "stranger")))
    with console(config, "box") as terminal:
        terminal.wait_for(b"NOT CONNECTED")
        terminal.send(b"q")
        status, said = left(terminal)
    assert status == 4
    assert "box refused the login of" in said
    assert "stranger" in said, "the key that was tried"
    assert "authorized_keys" in said


def test_a_changed_host_key_is_never_accepted(real_sshd: Sshd, config: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    other = write_key(tmp_path / "other").export_public_key().decode().split()[:2]
    known.write_text(f"[127.0.0.1]:{real_sshd.port} {' '.join(other)}\n")
    before = known.read_bytes()
    config.write_text(real_sshd.block("box", known))
    with console(config, "box") as terminal:
        terminal.wait_for(b"NOT CONNECTED")
        terminal.send(b"q")
        status, said = left(terminal)
    assert status == 4
    assert "shows another host key than the one on record" in said
    assert "Somebody may be listening." in said
    assert "ssh-keygen" in said
    assert known.read_bytes() == before


@pytest.mark.long
def test_an_unknown_host_key_that_is_declined(real_sshd: Sshd, config: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    config.write_text(real_sshd.block("box", known))
    with console(config, "box") as terminal:
        terminal.wait_for(b"This host is not known yet")
        press_until(terminal, b"n", b"NOT CONNECTED")
        terminal.send(b"q")
        status, said = left(terminal)
    assert status == 4
    assert "box is not on record" in said
    assert "SHA256:" in said
    assert not known.exists()


@pytest.mark.long
def test_an_unknown_host_key_that_is_accepted(real_sshd: Sshd, config: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    config.write_text(real_sshd.block("box", known))
    with console(config, "box", "--port", "9") as terminal:
        terminal.wait_for(b"This host is not known yet")
        press_until(terminal, b"y", b"WAITING")
        terminal.send(b"q")
        status, _ = left(terminal)
    assert status == 0
    assert known.read_text().split()[1:] == real_sshd.host_key.split()


@pytest.mark.long
@needs_ssh
def test_a_configuration_that_does_not_parse(config: Path) -> None:
    config.write_text("Host box\n  Prot 22\n")
    with console(config, "box") as terminal:
        terminal.wait_for(b"NOT CONNECTED")
        terminal.send(b"q")
        status, said = left(terminal)
    assert status == 2
    assert "ssh does not accept its configuration for box" in said
    assert f"{config}: line 2" in said
    assert "prot" in said.lower()


@pytest.fixture
def silent(config: Path) -> Iterator[None]:
    """A host that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        config.write_text(f"Host box\n  HostName 127.0.0.1\n  Port {server.getsockname()[1]}\n  ConnectTimeout 600\n")
        yield


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("key", [b"q", b"\x03"], ids=["q", "ctrl-c"])
def test_leaving_before_the_connection_stands(config: Path, key: bytes) -> None:
    with console(config, "box") as terminal:
        terminal.wait_for(b"Connecting to box")
        terminal.send(key)
        status, said = left(terminal)
    assert status == 4
    assert "left before there was a connection to box" in said


@pytest.mark.long
@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_while_it_connects(config: Path, number: signal.Signals, code: int) -> None:
    with console(config, "box") as terminal:
        terminal.wait_for(b"Connecting to box")
        os.kill(terminal.pid, number)
        assert left(terminal)[0] == code


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_while_it_watches(config: Path, number: signal.Signals, code: int) -> None:
    with console(config, "--port", "9") as terminal:
        terminal.wait_for(b"WAITING")
        os.kill(terminal.pid, number)
        assert left(terminal) == (code, said_nothing(terminal))


@pytest.mark.long
def test_a_name_server_that_does_not_answer_holds_nobody(config: Path) -> None:
    begin = "import socket, threading\nsocket.getaddrinfo = lambda *_, **__: threading.Event().wait()\n"
    program = begin + PROGRAM.format(config=str(config))
    config.write_text("Host box\n  HostName gpu-a.example\n")
    with Terminal([sys.executable, "-c", program, "watch", "box"]) as terminal:
        terminal.wait_for(b"Connecting to box")
        # Until the name is asked for; sooner, there would be nothing to wait for, and the test would hold all the same.
        terminal.drain(1.0, keep=True)
        terminal.send(b"q")
        status, said = left(terminal)
    assert status == 4
    assert "left before there was a connection" in said


def said_nothing(terminal: Terminal) -> str:
    """What is left below the screen when there is nothing to say: the end of the last escape sequence."""
    return terminal.seen.decode().rpartition("\x1b")[2].strip()


def test_a_terminal_that_is_too_small_says_so_and_can_be_left(config: Path) -> None:
    with console(config, "--port", "9", columns=40, rows=10) as terminal:
        terminal.wait_for(b"Too small: 40 x 10")
        terminal.send(b"q")
        assert left(terminal)[0] in (0, 4), "it may or may not have been connected yet"
