"""Commands without a screen on a terminal: the line that is rewritten, and the questions of a connection."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh
from headless import Way
from headless import way as way
from sshd import Sshd
from sshd import real_sshd as real_sshd
from terminal import Terminal

COMMAND = (sys.executable, "-m", "bringup")
ASKS = b"Accept this key, now and in future? (yes/no) "


@contextmanager
def on_terminal(way: Way, *argv: str, columns: int = 60) -> Iterator[Terminal]:
    with Terminal([*COMMAND, *argv], columns=columns, env=dict(way.environ)) as terminal:
        yield terminal


def rewrite(way: Way, old: str, new: str) -> None:
    """Change the ssh configuration of the way."""
    config = way.folder / "ssh_config"
    config.write_text(config.read_text().replace(old, new, 1))


async def test_progress_is_one_line_rewritten_and_taken_back(way: Way) -> None:
    with on_terminal(way, "wait", "box", "--port", "1", "--appear", "3s") as terminal:
        code = await asyncio.to_thread(terminal.end, 60)
    shown = terminal.seen.decode()
    assert code == 7
    progress, _, verdict = shown.rpartition("\r\x1b[K")
    assert re.search(r"○ \d\d:\d\d:\d\d waiting: No server yet\. .*…", progress)
    assert "\n" not in progress, "it stays on its line"
    assert all(len(line) < 60 for line in progress.split("\r\x1b[K"))
    assert "WAITING" in verdict


async def test_an_unknown_host_key_is_asked_for_and_put_on_record(way: Way, real_sshd: Sshd) -> None:
    known = way.folder / "known_hosts"
    known.write_text("")
    with on_terminal(way, "status", "box", "--port", "1", columns=120) as terminal:
        await asyncio.to_thread(terminal.wait_for, ASKS, 60)
        assert b"SHA256:" in terminal.seen
        terminal.send(b"yes\n")
        assert await asyncio.to_thread(terminal.end, 60) == 7
    assert real_sshd.host_key.split()[1] in known.read_text()


async def test_an_unknown_host_key_that_is_declined(way: Way) -> None:
    known = way.folder / "known_hosts"
    known.write_text("")
    with on_terminal(way, "status", "box") as terminal:
        await asyncio.to_thread(terminal.wait_for, ASKS, 60)
        terminal.send(b"no\n")
        assert await asyncio.to_thread(terminal.end, 60) == 4
    assert known.read_text() == ""


async def test_a_passphrase_is_asked_for_and_not_shown(way: Way, real_sshd: Sshd) -> None:
    locked(way, real_sshd)
    with on_terminal(way, "status", "box", "--port", "1", columns=120) as terminal:
        await asyncio.to_thread(terminal.wait_for, b"locked_key", 60)
        await asyncio.to_thread(terminal.wait_for, b": ", 60)
        terminal.send(b"open sesame\n")
        assert await asyncio.to_thread(terminal.end, 60) == 7
        assert b"sesame" not in terminal.seen
        assert terminal.has_modes()


async def test_ctrl_c_ends_a_question_and_leaves_the_terminal_as_it_was(way: Way, real_sshd: Sshd) -> None:
    locked(way, real_sshd)
    with on_terminal(way, "wait", "box", columns=120) as terminal:
        await asyncio.to_thread(terminal.wait_for, b"locked_key", 60)
        await asyncio.to_thread(terminal.wait_for, b": ", 60)
        terminal.send(b"\x03")
        assert await asyncio.to_thread(terminal.end, 60) == 130
        assert terminal.has_modes()
        assert b"Traceback" not in terminal.seen


async def test_without_a_terminal_nobody_is_asked(way: Way, real_sshd: Sshd) -> None:
    locked(way, real_sshd)
    done = await way.run("status", "box")
    assert (done.code, done.out) == (4, "")
    assert done.err.count("there is no terminal to answer at") == 1
    assert "Use a key or an agent" in done.err


def locked(way: Way, real_sshd: Sshd) -> Path:
    """Let the key be one with a passphrase."""
    path = way.folder / "locked_key"
    key = asyncssh.read_private_key(real_sshd.client_key)
    key.write_private_key(path, passphrase="open sesame", rounds=1, ignore_few_rounds=True)
    path.chmod(0o600)
    rewrite(way, str(real_sshd.client_key), str(path))
    return path
