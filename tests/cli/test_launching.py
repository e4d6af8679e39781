"""`bringup watch --launch NAME` through a real sshd: what is asked, started, refused, and said when it fails."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from adopted import adopting
from headless import Way
from headless import way as way
from simulated import PATIENCE, needs_linux
from sshd import free_port
from sshd import real_sshd as real_sshd
from terminal import Terminal
from waiting import alive, pid_in

from bringup.core.events import Server
from bringup.hosts.control import claim
from bringup.hosts.control.journal import step
from bringup.hosts.local import LocalHost

pytestmark = needs_linux
COMMAND = (sys.executable, "-m", "bringup", "watch")
SERVER = 'import os, sys, time\nopen("pid", "w").write(f"{os.getpid()}\\n")\nprint(os.environ["PLACE"], flush=True)\n'


@asynccontextmanager
async def place(way: Way, last: str = "time.sleep(600)") -> AsyncIterator[Path]:
    """A folder with a server in it, and a target that starts it; what was started is ended here."""
    folder = way.folder / "place"
    package = folder / "sglang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "launch_server.py").write_text(SERVER + last + "\n")
    port = free_port()
    way.config.write_text(
        f'[targets.kimi]\nhost = "box"\nport = {port}\ncwd = "{folder}"\nlog = "{folder}/server.log"\n'
        f'launch = "{sys.executable} -m sglang.launch_server --model-path /m --port {port}"\n'
        f'env = {{ PLACE = "here" }}\n'
    )
    with adopting(f"--port {port}"):
        yield folder


def console(way: Way, *argv: str) -> Terminal:
    return Terminal([*COMMAND, *argv], env=dict(way.environ))


async def test_it_is_launched_after_a_yes_and_outlives_the_console(way: Way) -> None:
    async with place(way) as folder:
        with console(way, "--launch", "kimi") as terminal:
            await asyncio.to_thread(terminal.wait_for, b"? (yes/no) ", PATIENCE)
            assert b"sglang.launch_server" in terminal.seen
            assert b"PLACE" in terminal.seen
            assert not (folder / "pid").exists()
            terminal.send(b"yes\n")
            await asyncio.to_thread(terminal.wait_for, b"Launched as PID", PATIENCE)
            pid = await pid_in(folder / "pid")
            await asyncio.to_thread(terminal.wait_for, b"importing modules", PATIENCE)
            terminal.send(b"q")
            assert await asyncio.to_thread(terminal.end, 60) == 0
        assert alive(pid)
        assert (folder / "server.log").read_text() == "here\n"
        # A second one is never started beside it.
        with console(way, "kimi", "--launch", "kimi", "--yes") as terminal:
            assert await asyncio.to_thread(terminal.end, 60) == 1
            assert b"Nothing was launched: a server runs on kimi already" in terminal.seen
        assert alive(pid)


async def test_what_was_started_while_the_question_stood_is_no_second_one(way: Way) -> None:
    async with place(way) as folder:
        with console(way, "--launch", "kimi") as terminal:
            await asyncio.to_thread(terminal.wait_for, b"? (yes/no) ", PATIENCE)
            command = shlex.split(tomllib.loads(way.config.read_text())["targets"]["kimi"]["launch"])
            theirs = await asyncio.create_subprocess_exec(
                *command, cwd=folder, env={**os.environ, "PLACE": "theirs"}, stdout=asyncio.subprocess.DEVNULL
            )
            await pid_in(folder / "pid")
            terminal.send(b"yes\n")
            assert await asyncio.to_thread(terminal.end, 60) == 1
            assert b"Nothing was launched: a server runs on kimi already" in terminal.seen
        assert await pid_in(folder / "pid") == theirs.pid
        assert not (folder / "server.log").exists()
        theirs.kill()
        await theirs.wait()


async def test_beside_a_restart_under_way_nothing_is_launched(way: Way) -> None:
    async with place(way) as folder:
        port = tomllib.loads(way.config.read_text())["targets"]["kimi"]["port"]
        server = Server(pid=os.getpid(), start=1, engine="sglang", argv=(), port=port)
        await step(LocalHost("box"), await claim(LocalHost("box"), server, "restart", who="ada"), "waiting")
        with console(way, "--launch", "kimi", "--yes") as terminal:
            assert await asyncio.to_thread(terminal.end, 60) == 1
            said = b" ".join(terminal.seen.split()).decode()
        assert "is under way by ada: its GPU memory and its port are waited for." in said
        assert f"`bringup restart kimi --port {port}` goes on with it" in said
        assert not (folder / "pid").exists()


async def test_a_no_launches_nothing(way: Way) -> None:
    async with place(way) as folder:
        with console(way, "--launch", "kimi") as terminal:
            await asyncio.to_thread(terminal.wait_for, b"? (yes/no) ", PATIENCE)
            terminal.send(b"n\n")
            assert await asyncio.to_thread(terminal.end, 60) == 1
            assert b"Nothing was done." in terminal.seen
        assert not (folder / "pid").exists()


async def test_a_start_that_fails_says_why_in_its_own_words(way: Way) -> None:
    async with place(way, 'sys.exit("no such model: /m")'):
        with console(way, "--launch", "kimi", "--yes") as terminal:
            assert await asyncio.to_thread(terminal.end, 60) == 1
            assert b"exit status 1" in terminal.seen
            assert b"no such model: /m" in terminal.seen


async def test_a_command_that_the_shell_does_not_know(way: Way) -> None:
    way.config.write_text('[targets.kimi]\nhost = "box"\nport = 1\nlaunch = "no-such-program --now"\n')
    with console(way, "--launch", "kimi", "--yes") as terminal:
        assert await asyncio.to_thread(terminal.end, 60) == 1
        said = b" ".join(terminal.seen.split())
        assert b"exit status 127: " in said
        # The shell's own words, though the target has no log.
        assert b": 1: no-such-program: not found. See /" in said
        assert b"none of your start files" in said


CONFIG = '[targets.kimi]\nhost = "box"\nlaunch = "true"\nread-only = true\n[targets.bare]\nhost = "box"\n'


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--launch", "kimu"], b"There is no target 'kimu' in the configuration."),
        (["--launch", "bare"], b"The target bare has no launch command."),
        (["--launch", "kimi", "--yes"], b"The configuration says that kimi is read-only"),
        (["--launch", "bare", "--read-only"], b"--read-only and --launch contradict each other."),
        (["bare", "--yes"], b"There is nothing to say yes to."),
    ],
)
async def test_what_cannot_be_launched(argv: list[str], words: bytes, way: Way) -> None:
    way.config.write_text(CONFIG)
    with console(way, *argv) as terminal:
        assert await asyncio.to_thread(terminal.end, 60) == 2
        assert words in terminal.seen


async def test_without_a_terminal_nothing_is_launched(way: Way) -> None:
    way.config.write_text('[targets.kimi]\nhost = "box"\nlaunch = "touch /tmp/never"\n')
    done = await way.run("watch", "--launch", "kimi", "--yes")
    assert (done.code, done.out) == (2, "")
