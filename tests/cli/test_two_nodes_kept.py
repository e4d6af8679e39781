"""`bringup record` and `bringup report` of a start on two nodes, through two real sshd."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from headless import ended
from headless import way as way
from simulated import PATIENCE, needs_linux
from sshd import real_sshd as real_sshd
from twonodestart import Start, both
from twonodestart import start as start
from waiting import eventually

from bringup.hosts.recording import load_recording
from bringup.recordings.encoder import LogPiece

pytestmark = needs_linux


def logged(file: Path) -> bytes:
    if not file.exists() or not file.stat().st_size:
        return b""
    return b"".join(item.data for _, item in load_recording(file).items if isinstance(item, LogPiece))


async def test_a_recording_of_each_node(start: Start) -> None:
    both(start)
    output = start.way.folder / "start.bringup"
    files = [start.way.folder / f"start.{node}.bringup" for node in ("node1", "node2")]
    process = await start.way.start("record", "node1", "node2", "-o", str(output))
    await eventually(lambda: all(b"Load weight" in logged(file) for file in files), PATIENCE)
    start.worker.fail(3)
    done = await ended(process)
    assert done.code == 0, done.err
    assert all(str(file) in done.out for file in files)
    assert "node1 waits for it." in done.out
    assert not output.exists()
    assert [load_recording(file).header.host for file in files] == ["node1", "node2"]
    assert b"OutOfMemoryError" in logged(files[1])
    assert b"OutOfMemoryError" not in logged(files[0])
    again = await start.way.run("record", "node1", "node2", "-o", str(output))
    assert again.code == 1
    assert f"{files[0]} is there already." in again.err


async def test_a_file_that_cannot_be_made(start: Start) -> None:
    both(start)
    told = await start.way.run("record", "node1", "node2", "-o", "/proc/start.bringup")
    assert told.code == 1
    assert "/proc/start.node1.bringup cannot be made" in told.err


@pytest.mark.parametrize("form", ["html", "md", "svg"])
async def test_a_report_about_both_nodes(form: str, start: Start) -> None:
    both(start)
    with start.way.config.open("a") as config:
        config.write(f'log = "{start.worker.log}"\n')
    start.worker.fail(3)
    page = start.way.folder / f"start.{form}"
    told = await start.way.run("report", "node1", "node2", "-o", str(page))
    assert told.code == 0, told.err
    assert told.out.startswith("failed: ")
    text = re.sub(r"<!-- -->|\\", "", page.read_text("utf-8"))
    assert "node1, node2" in text
    if form == "svg":
        return
    for words in (
        "torch.OutOfMemoryError: CUDA out of memory",
        "GPU memory of node1",
        "GPU memory of node2",
        "Node node1",
        str(start.head.log),
        str(start.worker.log),
        "of the log of node2",
    ):
        assert words in text
