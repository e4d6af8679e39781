"""`bringup status` through a real sshd: exit codes, and what goes to which stream."""

from __future__ import annotations

import json
import os
import re
import time
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from headless import Done, Way
from headless import way as way
from simulated import PATIENCE, needs_linux, ranks, said, state
from sshd import real_sshd as real_sshd
from waiting import eventually

from bringup.cli import run
from bringup.cli.exits import BY_STATE
from bringup.demo.host import DemoHost

pytestmark = needs_linux
SCHEMA = json.loads(resources.files("bringup.report").joinpath("schema-1.json").read_text("utf-8"))


async def look(way: Way, demo: DemoHost, *options: str) -> Done:
    """Look at the demo's server, both ways; return the one for programs."""
    told = await way.run("status", "box", "--json", *options)
    assert told.err == ""
    jsonschema.validate(told.told, SCHEMA)
    assert told.code == BY_STATE[told.told["state"]]
    return told


def port(demo: DemoHost) -> tuple[str, str]:
    return "--port", str(demo.server_port)


@pytest.mark.long
async def test_a_start_and_then_a_server_that_is_ready(way: Way) -> None:
    async with DemoHost("healthy", speed=4) as demo:
        await said(demo, "server_args")
        starting = await look(way, demo, *port(demo))
        assert starting.code == 6
        assert starting.told["state"] in ("starting", "slow")
        assert starting.told["ranks_expected"] == 8
        await said(demo, "fired up")
        ready = await look(way, demo, *port(demo))
        assert (ready.code, ready.told["state"]) == (0, "ready")
        assert ready.told["now"].startswith("20")
        page = await way.run("status", "box", *port(demo))
        assert (page.code, page.err) == (0, "")
        assert page.out.startswith("● READY")
        assert f"{demo.home.log} · " in page.out
        assert "\x1b" not in page.out
        missing = await look(way, demo, "--log", "/nowhere.log", *port(demo))
        assert any("There is no /nowhere.log" in warning["detail"] for warning in missing.told["warnings"])


@pytest.mark.long
async def test_a_rank_that_is_stopped_is_a_stall_at_first_sight(way: Way) -> None:
    async with DemoHost("stall", speed=8) as demo:
        await said(demo, "Load weight begin")
        await eventually(lambda: any(state(pid) == "T" for pid in ranks(demo).values()), PATIENCE)
        stalled = await look(way, demo, *port(demo))
        assert (stalled.code, stalled.told["state"]) == (3, "stalled")
        assert stalled.told["failed_ranks"] == [3]


@pytest.mark.long
async def test_a_server_that_failed_is_told_from_its_log(way: Way) -> None:
    async with DemoHost("oom", speed=8) as demo:
        await said(demo, "sigquit")
        await eventually(lambda: not ranks(demo), PATIENCE)
        failed = await look(way, demo, "--log", str(demo.home.log), *port(demo))
        assert (failed.code, failed.told["state"], failed.told["cause"]["kind"]) == (1, "failed", "oom")
        # Without the log nothing of it is left.
        assert (await look(way, demo, *port(demo))).code == 7


@pytest.mark.long
async def test_a_log_that_says_ready_is_not_enough_where_nobody_serves(way: Way) -> None:
    async with DemoHost("healthy", speed=20) as demo:
        await said(demo, "fired up")
        text = demo.home.log.read_bytes()
    log = way.folder / "old.log"
    log.write_bytes(text)
    told = await way.run("status", "box", "--json", "--log", str(log), "--port", "1")
    assert (told.code, told.told["state"]) == (10, "unknown")
    assert "no process of it is found" in told.told["summary"]


@pytest.mark.long
async def test_silence_is_judged_by_the_age_of_the_file(way: Way) -> None:
    """Its lines carry old stamps either way; what differs is when the host says it was last written to."""
    async with DemoHost("healthy", speed=20) as demo:
        await said(demo, "Load weight begin")
        text = demo.home.log.read_bytes()
    text = text[: text.index(b"Load weight begin")] + b"Load weight begin. avail mem=139.00 GB\n"
    log = way.folder / "old.log"
    log.write_bytes(re.sub(rb"(?m)^\[20\d\d-", b"[2020-", text))
    fresh = await way.run("status", "box", "--json", "--log", str(log), "--port", "1")
    assert fresh.code == 6
    hours_ago = time.time() - 6 * 3600
    os.utime(log, (hours_ago, hours_ago))
    old = await way.run("status", "box", "--json", "--log", str(log), "--port", "1")
    assert (old.code, old.told["state"]) == (3, "stalled")


async def test_no_server(way: Way) -> None:
    told = await way.run("status", "box", "--json", "--port", "1")
    assert (told.code, told.told["state"], told.err) == (7, "waiting", "")


async def test_no_host(way: Way) -> None:
    told = await way.run("status", "nobody", "--json")
    assert (told.code, told.out) == (4, "")
    assert told.err.startswith("bringup: nobody (127.0.0.1) refused the connection on port 1")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["status", ""], "'' is not the name of a host"),
        (["status", "box", "--port", "0"], "There is no port 0"),
        (["status", "box", "--log", ""], "The name of the log is empty"),
        (["status", "box", "--nope"], "Unknown option: --nope"),
        (["status", "a", "a"], "a is named more than once"),
        (["status", "ssh:"], "'ssh:' is not the name of a host"),
        (["wait", "box", "--timeout", "soon"], "--timeout takes a duration such as"),
        (["wait", "box", "--appear", "-1"], "--appear takes a duration such as"),
        (["wait", "box", "--stall", "0"], "a --stall of 0 cannot be"),
        (["wait", "box", "--pid", "0"], "There is no process 0"),
    ],
)
def test_a_wrong_command_line(
    argv: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path))
    assert run(argv) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err


@pytest.mark.parametrize("command", ["status", "wait"])
async def test_a_broken_configuration_is_told_before_anything_is_done(command: str, way: Way) -> None:
    way.config.write_text("[targets.box]\nprot = 1\n")
    told = await way.run(command, "nobody")
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"bringup: {way.config}, line 2: [targets.box] has no key 'prot'. Did you mean port?")
