"""`bringup stop` of a start on two nodes, through two real sshd: shown on each host, asked once, stopped on both."""

from __future__ import annotations

import asyncio
import sys

import pytest
from headless import Way
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


async def test_a_node_without_a_server_is_told_and_the_other_stopped(start: Start) -> None:
    both(start)
    start.worker.tree.process.kill()
    start.worker.tree.process.wait()
    done = await start.way.run("stop", "node1", "node2", "--yes", "--drain", "2s")
    assert done.code == 0, done.err
    assert "node2: there is no server to stop." in done.err
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["node1"]
    assert not alive(start.head.tree.pid)


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
