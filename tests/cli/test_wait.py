"""`bringup wait` through a real sshd: when it ends, with which code, and what goes to which stream."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import Process
from importlib import resources

import jsonschema
import pytest
from headless import Way, ended
from headless import way as way
from simulated import PATIENCE, launchers, needs_linux, said
from sshd import Sshd
from sshd import real_sshd as real_sshd
from waiting import eventually

from bringup.demo.host import DemoHost

pytestmark = needs_linux
SCHEMA = json.loads(resources.files("bringup.report").joinpath("schema-1.json").read_text("utf-8"))


def port(demo: DemoHost) -> tuple[str, str]:
    return "--port", str(demo.server_port)


async def begun(way: Way, demo: DemoHost, *options: str) -> tuple[Process, bytes]:
    """Start to wait; return once the first line of progress was said, which is returned too."""
    process = await way.start("wait", "box", *port(demo), *options)
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        return process, await process.stderr.readline()


@pytest.mark.long
async def test_ready_with_a_line_for_each_phase(way: Way) -> None:
    async with DemoHost("healthy", speed=4, launch=False) as demo:
        process, first = await begun(way, demo, "--json")
        await demo.launch().started
        done = await ended(process)
        assert (done.code, done.told["state"]) == (0, "ready")
        jsonschema.validate(done.told, SCHEMA)
        lines = [first.decode().rstrip("\n"), *done.err.splitlines()]
        phases = [line.split(" ", 1)[1].split(":")[0] for line in lines]
        assert all(line[2] == ":" and "\r" not in line and "\x1b" not in line for line in lines)
        assert any(phase.endswith("weights (target)") for phase in phases)
        assert phases[-1] == "ready, serving (target)" or phases[-1].startswith("ready, serving")
        assert phases == [phase for index, phase in enumerate(phases) if index == 0 or phases[index - 1] != phase]
        again = await way.run("wait", "box", *port(demo))
        assert again.code == 0
        assert again.out.startswith("● READY")


@pytest.mark.long
async def test_a_failure_ends_it_with_the_cause(way: Way) -> None:
    async with DemoHost("oom", speed=4) as demo:
        process, _ = await begun(way, demo)
        done = await ended(process)
        assert done.code == 1
        assert done.out.startswith("✕ FAILED")
        assert "cause       oom" in done.out


@pytest.mark.long
async def test_a_stall_ends_it_with_the_culprit(way: Way) -> None:
    async with DemoHost("stall", speed=8) as demo:
        done = await way.run("wait", "box", *port(demo), "--json")
        assert (done.code, done.told["state"], done.told["failed_ranks"]) == (3, "stalled", [3])


@pytest.mark.long
async def test_a_server_that_is_stopped(way: Way) -> None:
    async with DemoHost("healthy", speed=1) as demo:
        process, _ = await begun(way, demo, "--json")
        await said(demo, "Load weight begin")
        os.kill(launchers(demo)[0], signal.SIGTERM)
        done = await ended(process)
        assert (done.code, done.told["state"]) == (8, "stopped"), done


@pytest.mark.long
async def test_only_the_time_that_was_asked_for_ends_a_start_that_goes_on(way: Way) -> None:
    async with DemoHost("healthy", speed=0.2) as demo:
        done = await way.run("wait", "box", *port(demo), "--timeout", "4s", "--json")
        assert done.code == 6
        assert done.told["state"] in ("starting", "slow")


async def test_a_server_that_does_not_come(way: Way) -> None:
    done = await way.run("wait", "box", "--port", "1", "--appear", "2s")
    assert done.code == 7
    assert done.out.startswith("○ WAITING")
    assert done.err.count("\n") == 1
    assert "waiting: No server yet." in done.err


@pytest.mark.long
async def test_a_server_that_comes_later(way: Way) -> None:
    async with DemoHost("healthy", speed=8, launch=False) as demo:
        process, line = await begun(way, demo, "--json")
        assert b"waiting: No server yet." in line
        await demo.launch().started
        done = await ended(process)
        assert (done.code, done.told["state"]) == (0, "ready")


async def test_no_host(way: Way) -> None:
    done = await way.run("wait", "nobody")
    assert (done.code, done.out) == (4, "")


@pytest.mark.long
async def test_a_lost_connection_is_made_again(way: Way, real_sshd: Sshd) -> None:
    async with DemoHost("healthy", speed=4) as demo:
        process, _ = await begun(way, demo, "--json")
        await said(demo, "Load weight begin")
        real_sshd.cut()
        done = await ended(process)
        assert (done.code, done.told["state"]) == (0, "ready")
        assert "no connection: " in done.err


@pytest.mark.long
async def test_ctrl_c_tells_what_was_known_last(way: Way) -> None:
    async with DemoHost("healthy", speed=0.5) as demo:
        await said(demo, "server_args")
        process, _ = await begun(way, demo)
        process.send_signal(signal.SIGINT)
        done = await ended(process)
        assert (done.code, done.out) == (130, "")
        assert "bringup: Broken off. The last that was known: starting." in done.err
        assert "Traceback" not in done.err
        await eventually(lambda: bool(launchers(demo)), PATIENCE)


@pytest.mark.long
async def test_a_target_of_the_configuration(way: Way) -> None:
    async with DemoHost("healthy", speed=20) as demo:
        told = way.folder / "told"
        notify = f"notify = 'echo \"$BRINGUP_TARGET|$BRINGUP_STATE|$BRINGUP_SUMMARY\" > {told}'"
        way.config.write_text(f'{notify}\n[targets.kimi]\nhost = "box"\nport = {demo.server_port}\n')
        done = await way.run("wait", "kimi", "--json")
        assert (done.code, done.told["state"], done.told["port"]) == (0, "ready", demo.server_port)
        await eventually(lambda: told.exists() and told.read_text().endswith("\n"), PATIENCE)
        assert told.read_text() == f"kimi|ready|{done.told['summary']}\n"
        # It wins over an alias of the same name; ssh: means the alias.
        way.config.write_text('[targets.box]\nhost = "nobody"\n')
        assert (await way.run("status", "box")).code == 4
        assert (await way.run("status", "ssh:box", *port(demo))).code == 0


async def test_an_old_log_without_a_server_is_not_waited_at(way: Way) -> None:
    log = way.folder / "old.log"
    log.write_text(
        "[2026-01-02 10:00:00] server_args=ServerArgs(model_path='/models/tiny', port=30000, tp_size=1)\n"
        "[2026-01-02 10:00:07] Load weight begin. avail mem=78.00 GB\n"
        "[2026-01-02 10:00:20] The server is fired up and ready to roll!\n"
    )
    os.utime(log, (1_767_348_020, 1_767_348_020))
    done = await way.run("wait", "box", "--log", str(log), "--port", "1", "--appear", "1s", "--json")
    assert (done.code, done.told["state"]) == (7, "unknown")
    assert "No server was found in the time that --appear gives" in done.err
