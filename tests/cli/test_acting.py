"""`bringup stop` and `bringup restart` through a real sshd: what is asked, done, said, and left alone."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from headless import Way
from headless import way as way
from simulated import PATIENCE, family, launchers, needs_linux, ranks, said, title
from sshd import real_sshd as real_sshd
from terminal import Terminal
from waiting import eventually

from bringup.demo.host import DemoHost
from bringup.demo.prctl import adopt_orphans

pytestmark = needs_linux
COMMAND = (sys.executable, "-m", "bringup")


@asynccontextmanager
async def serving(way: Way) -> AsyncIterator[DemoHost]:
    """A server that is up; what is launched again through the sshd leaves the demo's tree, and is ended here."""
    adopt_orphans()
    async with DemoHost("healthy", speed=20) as demo:
        try:
            await said(demo, "fired up")
            yield demo
        finally:
            for pid in family(os.getpid()):
                if str(demo.home.root) in title(pid):
                    os.kill(pid, signal.SIGKILL)
            adopt_orphans(adopt=False)


def port(demo: DemoHost) -> tuple[str, str]:
    return "--port", str(demo.server_port)


async def test_a_stop_shows_what_it_touches_and_says_when_it_is_done(way: Way) -> None:
    async with serving(way) as demo:
        members = set(ranks(demo).values()) | set(launchers(demo))
        done = await way.run("stop", "box", "--yes", *port(demo))
        assert done.code == 0, done.err
        assert not launchers(demo)
        assert not ranks(demo)
        assert all(str(pid) in done.err for pid in members)
        assert "sglang.launch_server" in done.err
        assert len(done.out.splitlines()) == 1
        again = await way.run("stop", "box", "--yes", *port(demo))
        assert (again.code, again.out) == (1, "")
        assert "There is no server to stop." in again.err
        (row,) = (await way.run("history", "box", "--actions", "--json")).told["actions"]
        assert (row["action"], row["outcome"]) == ("stop", "done")
        assert members <= set(row["pids"])
        assert row["said"] == done.out.strip()


async def test_a_restart_launches_the_same_again(way: Way) -> None:
    async with serving(way) as demo:
        first = launchers(demo)
        before = demo.home.log.read_bytes()
        done = await way.run("restart", "box", "--yes", *port(demo))
        assert done.code == 0, done.err
        assert "Launched again as PID" in done.out
        assert not set(first) & set(launchers(demo))
        ready = await way.run("wait", "box", "--json", *port(demo))
        assert (ready.code, ready.told["state"]) == (0, "ready")
        assert demo.home.log.read_bytes().startswith(before) or len(list(demo.home.root.glob("server.log*"))) > 1


@pytest.mark.parametrize("command", ["stop", "restart"])
async def test_without_a_terminal_a_yes_is_needed(command: str, way: Way) -> None:
    done = await way.run(command, "box")
    assert (done.code, done.out) == (2, "")
    assert "Give --yes" in done.err


@pytest.mark.parametrize("command", ["stop", "restart"])
async def test_a_read_only_target_is_never_touched(command: str, way: Way) -> None:
    way.config.write_text('[targets.kimi]\nhost = "box"\nread-only = true\n')
    done = await way.run(command, "kimi", "--yes")
    assert (done.code, done.out) == (2, "")
    assert "kimi is read-only" in done.err


async def test_no_host(way: Way) -> None:
    assert (await way.run("stop", "nobody", "--yes")).code == 4


@pytest.mark.parametrize(("answer", "code"), [(b"no\n", 1), (b"y\n", 1), (b"\n", 1), (b"yes\n", 0)])
async def test_the_question_takes_a_whole_yes(answer: bytes, code: int, way: Way) -> None:
    async with serving(way) as demo:
        with Terminal([*COMMAND, "stop", "box", *port(demo)], env=dict(way.environ)) as terminal:
            await asyncio.to_thread(terminal.wait_for, b"? (yes/no) ", PATIENCE)
            assert b"ends" in terminal.seen
            assert launchers(demo), "nothing is done before the answer"
            terminal.send(answer)
            assert await asyncio.to_thread(terminal.end, 60) == code
        if code:
            assert b"Nothing was done." in terminal.seen
            assert launchers(demo)
        else:
            await eventually(lambda: not launchers(demo), PATIENCE)


async def test_a_configured_stop_command_is_used(way: Way) -> None:
    async with serving(way) as demo:
        mark = way.folder / "stopped"
        stop = f"kill {launchers(demo)[0]}; pwd > {mark}"
        way.config.write_text(
            f'[targets.kimi]\nhost = "box"\nport = {demo.server_port}\ncwd = "{way.folder}"\nstop = "{stop}"\n'
        )
        done = await way.run("stop", "kimi", "--yes")
        assert done.code == 0, done.err
        assert mark.read_text().strip() == str(way.folder)
        assert not launchers(demo)
