"""A restart that was cut off or failed, met by the commands: said, gone on with, forgotten, and never done twice."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from acted import port, serving
from headless import PATIENCE, Way
from headless import way as way
from simulated import family, launchers, needs_linux, ranks, title
from sshd import real_sshd as real_sshd
from waiting import eventually

from bringup.demo.host import DemoHost

pytestmark = needs_linux
FAILS = 'echo "[2026-03-02 14:48:59] server_args=ServerArgs(tp_size=8, port=30000)"; echo "no memory."; exit 3'


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where actions are written down: nobody else's are seen."""
    made = tmp_path / "places"
    made.mkdir()
    monkeypatch.setenv("BRINGUP_PLACES", str(made))
    return made


def grow_old(places: Path) -> None:
    """Let the lease of the one action there run out."""
    (claim,) = places.glob("*/*-*/claim")
    os.utime(claim, (time.time() - 100,) * 2)


async def cut_off(way: Way, demo: DemoHost, places: Path) -> int:
    """Kill a restart once it has asked the server to end, and let its lease run out; return the old launcher."""
    (pid,) = launchers(demo)[:1]
    process = await way.start("restart", "box", "--yes", *port(demo))
    assert process.stderr is not None
    while b"SIGTERM sent" not in (line := await asyncio.wait_for(process.stderr.readline(), PATIENCE)):
        assert line, "it has ended before"
    process.kill()
    await process.wait()
    await eventually(lambda: not launchers(demo) and not ranks(demo), PATIENCE)
    grow_old(places)
    return pid


async def still_one(demo: DemoHost, pid: int) -> bool:
    """The new server, and no other one, runs in its folder."""
    found = [each for each in family(os.getpid()) if title(each).startswith("python3 -m sglang.launch_server ")]
    return [each for each in found if str(demo.home.root) in title(each)] == [pid]


async def test_a_restart_that_was_cut_off_is_said_and_gone_on_with(way: Way, places: Path) -> None:
    async with serving(way) as demo:
        pid = await cut_off(way, demo, places)
        seen = await way.run("status", "box", *port(demo))
        assert "was cut off" in seen.out
        assert f"bringup restart box --port {demo.server_port} launches it again." in " ".join(seen.out.split())
        told = (await way.run("status", "box", "--json", *port(demo))).told["unfinished"]
        assert [(each["pid"], each["action"], each["can"]) for each in told] == [
            (pid, "restart", ["launch", "discard"])
        ]
        shown = await way.run("restart", "box", "--read-only", *port(demo))
        assert (shown.code, shown.out) == (1, "")
        assert "was cut off" in shown.err
        assert not launchers(demo)
        refused = await way.run("restart", "box", "--yes", *port(demo))
        assert refused.code == 1
        assert "may start it again. Nothing was launched from here" in refused.err
        assert not launchers(demo)
        done = await way.run("restart", "box", "--yes", "--force", *port(demo))
        assert done.code == 0, done.err
        assert "Launched again as PID" in done.out
        new = int(done.out.rpartition("PID ")[2].split()[0].rstrip(".;"))
        assert await still_one(demo, new)
        assert "unfinished" not in (await way.run("status", "box", "--json", *port(demo))).told


async def test_a_restart_that_was_cut_off_can_be_discarded(way: Way, places: Path) -> None:
    async with serving(way) as demo:
        pid = await cut_off(way, demo, places)
        way.config.write_text(f'[targets.kept]\nhost = "box"\nport = {demo.server_port}\nread-only = true\n')
        seen = await way.run("status", "kept")
        assert "was cut off" in seen.out
        assert "launch it now" not in seen.out
        assert "bringup restart" not in seen.out
        told = (await way.run("status", "kept", "--json")).told["unfinished"]
        assert [(each["pid"], each["can"]) for each in told] == [(pid, [])]
        way.config.write_text("")
        done = await way.run("restart", "box", "--discard", "--yes", *port(demo))
        assert (done.code, done.out) == (0, "The restart is given up; what was kept of it is removed.\n")
        assert not [*places.glob(f"*/{pid}-*")]
        assert not launchers(demo)
        again = await way.run("restart", "box", "--discard", "--yes", *port(demo))
        assert (again.code, again.out) == (1, "")
        assert "No stop or restart was left in the middle" in again.err


async def test_after_a_restart_that_failed_status_says_that_and_no_start(way: Way, places: Path) -> None:
    async with serving(way) as demo:
        way.config.write_text(
            f'[targets.kimi]\nhost = "box"\nport = {demo.server_port}\nlog = "{demo.home.log}"\n'
            f"launch = '''{FAILS}'''\n"
        )
        done = await way.run("restart", "kimi", "--yes", "--force")
        assert done.code == 1
        assert "exit status 3" in done.err
        assert "no memory." in done.err
        assert ".." not in done.err
        grow_old(places)
        seen = await way.run("status", "kimi")
        text = " ".join(seen.out.split())
        assert "A restart of" in text
        assert "no memory" in text
        assert "no server runs" in text
        told = (await way.run("status", "kimi", "--json")).told
        assert (seen.code, told["state"], told["cause"]["line"][-9:]) == (1, "failed", "no memory"), seen.out
        done = await way.run("restart", "kimi", "--discard", "--yes")
        assert done.code == 0


async def test_read_only_shows_what_would_be_touched(way: Way, places: Path) -> None:
    async with serving(way) as demo:
        for command in ("stop", "restart"):
            shown = await way.run(command, "box", "--read-only", *port(demo))
            assert (shown.code, shown.out) == (1, "")
            assert all(str(pid) in shown.err for pid in launchers(demo))
            assert "Nothing was done." in shown.err
        assert launchers(demo)
