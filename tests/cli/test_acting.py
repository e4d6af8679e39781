"""`bringup stop` and `bringup restart` through a real sshd: what is asked, done, said, and left alone."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from acted import port, serving
from adopted import adopting
from headless import Done, Way, ended
from headless import way as way
from simulated import PATIENCE, launchers, needs_linux, ranks, said
from sshd import real_sshd as real_sshd
from terminal import Terminal
from waiting import eventually

from bringup.demo.host import DemoHost
from bringup.demo.scenarios import load

pytestmark = needs_linux
COMMAND = (sys.executable, "-m", "bringup")


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
        done = await way.run("restart", "box", "--yes", "--force", *port(demo))
        assert done.code == 0, done.err
        assert "Launched again as PID" in done.out
        assert not set(first) & set(launchers(demo))
        ready = await way.run("wait", "box", "--json", *port(demo))
        assert (ready.code, ready.told["state"]) == (0, "ready")
        assert demo.home.log.read_bytes().startswith(before) or len(list(demo.home.root.glob("server.log*"))) > 1


@asynccontextmanager
async def slow_to_end() -> AsyncIterator[DemoHost]:
    """A server that is up, and takes minutes to end after it was asked to."""
    found = load("healthy")
    slow = replace(found, plan=replace(found.plan, durations=replace(found.plan.durations, drain=20_000.0)))
    async with DemoHost(slow, speed=20) as demo:
        with adopting(str(demo.home.root)):
            await said(demo, "fired up")
            yield demo


async def ended_once_said(process: Process, words: bytes, pid: int) -> Done:
    """Kill the server once the command has said something; return how the command ended."""
    assert process.stderr is not None
    lines = []
    async with asyncio.timeout(PATIENCE):
        while not lines or words not in lines[-1]:
            lines.append(await process.stderr.readline())
            assert lines[-1], b"".join(lines)
    os.kill(pid, signal.SIGKILL)
    done = await ended(process)
    return replace(done, err=b"".join(lines).decode() + done.err)


async def test_beside_what_may_start_it_again_nothing_is_launched_unasked(way: Way) -> None:
    async with slow_to_end() as demo:
        (old,) = launchers(demo)
        restart = await way.start("restart", "box", "--yes", "--drain", "60s", *port(demo))
        done = await ended_once_said(restart, b"SIGKILL in 60 s", old)
        assert (done.code, done.out) == (1, "")
        assert "demo.supervisor" in done.err
        assert "may start it again. Nothing was launched from here" in done.err
        assert not launchers(demo)
        refused = await way.run("restart", "box", "--yes", *port(demo))
        assert refused.code == 1
        assert "With --force it is launched" in refused.err
        again = await way.run("restart", "box", "--yes", "--force", *port(demo))
        assert again.code == 0, again.err
        assert "Launched again as PID" in again.out
        ready = await way.run("wait", "box", "--json", *port(demo))
        assert (ready.code, ready.told["state"]) == (0, "ready")


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


async def test_its_server_is_protected_by_whatever_name_it_is_reached(way: Way) -> None:
    async with serving(way) as demo:
        before = set(launchers(demo))
        way.config.write_text(
            f'[targets.production]\nhost = "root@box"\nport = {demo.server_port}\nread-only = true\n'
            f'[targets.all]\nhost = "box"\npid = {min(before)}\n'
        )
        for argv in (["stop", "box", "--pid", str(min(before))], ["restart", "all"], ["stop", "box", *port(demo)]):
            done = await way.run(*argv, "--yes")
            assert (done.code, done.out) == (2, ""), done.err
            assert f"production is read-only, and this is its server (port {demo.server_port})" in done.err
            assert f"{way.config}, line 4," in done.err
        assert set(launchers(demo)) == before
        way.config.write_text(way.config.read_text().replace(str(demo.server_port), "1", 1))
        done = await way.run("stop", "box", "--yes", *port(demo))
        assert done.code == 0, done.err


async def test_no_host(way: Way) -> None:
    assert (await way.run("stop", "nobody", "--yes")).code == 4


@pytest.mark.parametrize(("answer", "code"), [(b"no\n", 1), (b"y\nno\n", 1), (b"\n", 1), (b"yes\n", 0)])
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
