"""`bringup status` and `bringup wait` for a start on two nodes, through two real sshd: streams and exit codes."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest
from headless import Way, ended
from headless import way as way
from simulated import needs_linux
from sshd import real_sshd as real_sshd
from twonodestart import Start, both
from twonodestart import start as start

pytestmark = needs_linux
SCHEMA = json.loads(resources.files("bringup.report").joinpath("schema-1.json").read_text("utf-8"))


async def test_a_start_that_goes_on(start: Start) -> None:
    both(start)
    told = await start.way.run("status", "node1", "node2", "--json")
    assert (told.code, told.err) == (6, "")
    jsonschema.validate(told.told, SCHEMA)
    assert [(rank["rank"], rank["node"]) for rank in told.told["ranks"]] == [
        (0, "node1"),
        (1, "node1"),
        (2, "node2"),
        (3, "node2"),
    ]
    page = await start.way.run("status", "node1", "node2")
    assert page.code == 6
    assert page.out.count("node1") >= 2
    assert str(start.worker.log) in page.out


async def test_a_node_that_failed_is_named(start: Start) -> None:
    both(start)
    process = await start.way.start("wait", "node1", "node2", "--json")
    assert process.stderr is not None
    await process.stderr.readline()
    start.worker.fail(3)
    done = await ended(process)
    assert (done.code, done.told["state"], done.told["failed_ranks"]) == (1, "failed", [3])
    jsonschema.validate(done.told, SCHEMA)
    assert (done.told["cause"]["node"], done.told["cause"]["kind"]) == ("node2", "oom")
    assert done.told["summary"].endswith("node1 waits for it.")


async def test_a_node_that_is_missing(start: Start) -> None:
    start.head.launch()
    start.way.config.write_text(start.way.config.read_text().replace(f"port = {start.worker.port}", "port = 1"))
    told = await start.way.run("status", "node1", "node2", "--json")
    assert told.code == 6
    assert "No server runs on node2." in told.told["summary"]
    assert [rank["node"] for rank in told.told["ranks"]] == ["node1", "node1", "node2", "node2"]


async def test_a_node_that_cannot_be_reached(start: Start) -> None:
    both(start)
    told = await start.way.run("status", "node1", "nobody-there", "--json")
    assert (told.code, told.out) == (4, "")
    assert "nobody-there" in told.err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["status", "node1", "node1"], "node1 is named more than once."),
        (["wait", "node1", "node2", "--pid", "7"], "A process is on one host, and several are named."),
        (["status", "node1", ""], "'' is not the name of a host"),
        (["status", "two", "node1"], "The target two has several hosts of its own."),
    ],
)
async def test_what_cannot_be_meant(argv: list[str], words: str, way: Way) -> None:
    way.config.write_text('[targets.two]\nhosts = ["a", "b"]\n')
    told = await way.run(*argv)
    assert (told.code, told.out) == (2, "")
    assert words in told.err
