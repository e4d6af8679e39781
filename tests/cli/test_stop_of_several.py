"""`bringup stop` of a start on two nodes, through two real sshd: shown on each host, asked once, stopped on both."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest
from headless import Way, ended
from headless import way as way
from simulated import PATIENCE, needs_linux
from sshd import real_sshd as real_sshd
from terminal import Terminal
from twonodestart import Start, both
from twonodestart import start as start
from waiting import alive

pytestmark = needs_linux
COMMAND = (sys.executable, "-m", "bringup")


def pids(start: Start) -> list[int]:
    trees = (start.head.tree, start.worker.tree)
    return [pid for tree in trees for pid in (tree.pid, *(child.pid for child in tree.children))]


async def test_both_are_shown_and_stopped(start: Start) -> None:
    both(start)
    done = await start.way.run("stop", "node1", "node2", "--yes", "--drain", "2s")
    assert done.code == 0, done.err
    assert not any(alive(pid) for pid in pids(start))
    assert all(str(pid) in done.err for pid in pids(start))
    assert sorted(line.split(":")[0] for line in done.out.splitlines()) == ["node1", "node2"]
    again = await start.way.run("stop", "node1", "node2", "--yes")
    assert (again.code, again.out) == (1, "")
    assert "There is no server to stop on node1 and node2." in again.err


async def test_one_question_is_asked(start: Start) -> None:
    both(start)
    with Terminal([*COMMAND, "stop", "node1", "node2"], env=dict(start.way.environ)) as terminal:
        await asyncio.to_thread(terminal.wait_for, b"Stop 2 servers, on node1 and node2? (yes/no) ", PATIENCE)
        assert all(str(pid).encode() in terminal.seen for pid in pids(start))
        terminal.send(b"no\n")
        assert await asyncio.to_thread(terminal.end, 60) == 1
    assert b"Nothing was done." in terminal.seen
    assert all(alive(pid) for pid in pids(start))


async def test_a_node_where_only_ranks_live_on_is_told_and_the_other_stopped(start: Start) -> None:
    both(start)
    start.worker.tree.process.kill()
    start.worker.tree.process.wait()
    done = await start.way.run("stop", "node1", "node2", "--yes", "--drain", "2s")
    assert done.code == 1, done.err
    said = " ".join(done.err.split())
    assert "node2: there is no server to stop. Looking for a launcher" in said
    assert "bringup: node2: something of an earlier server was left alone." in said
    assert "In `bringup watch node2`, o shows what lives on of an earlier one, and can end it. Stopped: node1." in said
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["node1"]
    assert not alive(start.head.tree.pid)
    assert all(alive(child.pid) for child in start.worker.tree.children), "it was said that they are left alone"


async def test_a_connection_that_is_lost_is_told_by_the_exit_code(start: Start) -> None:
    both(start)
    process = await start.way.start("stop", "node1", "node2", "--yes", "--drain", "10m")
    assert process.stderr is not None
    said = b""
    while not all(b"%s: 2 processes still run" % node in said for node in (b"node1", b"node2")):
        line = await asyncio.wait_for(process.stderr.readline(), PATIENCE)
        assert line, said
        said += line
    start.worker.sshd.cut()
    for child in start.head.tree.children:
        os.kill(child.pid, signal.SIGKILL)
    done = await ended(process)
    assert done.code == 4, done.err
    assert "node2: " in done.err
    assert "in the middle of the stop" in done.err
    assert "Stopped: node1." in " ".join(done.err.split())
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["node1"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["stop", "--docker", "llm", "--yes"], "A stop does not go through --docker"),
        (["restart", "--kube", "a/b", "--yes"], "A restart does not go through --kube"),
        (["stop", "--slurm", "4711", "--yes"], "`scancel` ends the job."),
        (["stop", "pod", "--yes"], "A stop does not go through --docker"),
        (["restart", "two", "--yes"], "two has 2 hosts, and a restart is of one."),
        (["stop", "kept", "--yes"], "kept is read-only"),
    ],
)
async def test_what_makes_no_sense_is_refused(argv: list[str], words: str, way: Way) -> None:
    way.config.write_text(
        '[targets.two]\nhosts = ["a", "b"]\n[targets.pod]\nhost = "box"\ndocker = "llm"\n'
        '[targets.kept]\nhosts = ["a", "b"]\nread-only = true\n'
    )
    told = await way.run(*argv)
    assert (told.code, told.out) == (2, "")
    assert words in told.err
