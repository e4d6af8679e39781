"""`bringup report`: pages of logs, of recordings and of a host, and what is said of a command line that is wrong."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest
from headless import Way
from headless import way as way
from loggen import sglang_chunks
from simulated import needs_linux, said
from sshd import real_sshd as real_sshd

from bringup.cli import run
from bringup.demo.host import DemoHost

WALL = 1_772_442_854.0
HEAD = {"recording": 1, "engine": "sglang", "version": "0.5.15", "hardware": "none", "what": "a test", "truth": {}}
COMMAND = ["python3", "-m", "sglang.launch_server", "--model-path", "/models/target", "--tp-size", "2"]


@pytest.fixture(autouse=True)
def quiet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRINGUP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("BRINGUP_DATA_DIR", str(tmp_path / "data"))


def log_bytes() -> bytes:
    return b"".join(data for _, data in sglang_chunks("0.5.15", tp=2, draft=True, until="ready"))


def recording() -> bytes:
    """A start on two ranks: its log as it came, and the memory of two GPUs once a second."""
    rows: list[dict[str, Any]] = [{"t": 0.0, "event": {"ev": "start", "pid": 10, "wall": WALL, "cmd": COMMAND}}]
    chunks = sglang_chunks("0.5.15", tp=2, draft=True, until="ready")
    rows += [{"t": t, "log": data.decode("latin-1")} for t, data in chunks]
    for second in range(int(chunks[-1][0])):
        gpus = [f"{index}, 143771, 500, {1000 * second + index}, 0, 5, 5, 100.0, 30, P0" for index in range(2)]
        rows.append({"t": second + 0.5, "gpu": {"gpus": gpus, "apps": []}})
    rows.sort(key=lambda row: float(row["t"]))
    return "\n".join(json.dumps(row) for row in (HEAD, *rows)).encode() + b"\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("make", [log_bytes, recording])
def test_a_file_is_told_by_what_it_holds(
    make: Any, packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "start", tmp_path / "start.html"
    file.write_bytes(gzip.compress(make()) if packed else make())
    assert run(["report", str(file), "-o", str(page)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("ready: ")
    assert f"The report is in {page}." in told.out
    assert told.err == ""
    text = page.read_text("utf-8")
    assert "<!DOCTYPE html>" in text
    assert ("GPU memory in use over time" in text) == (make is recording)
    assert "draft" in text
    assert ("a recorded start" if make is recording else "a log alone") in text


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stream = io.TextIOWrapper(io.BytesIO(recording()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert run(["report", "-", "-o", str(tmp_path / "a.svg")]) == 0
    assert minidom.parse(str(tmp_path / "a.svg")).getElementsByTagName("path")


def test_markdown_and_the_line_that_caused_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "server.log"
    fault = (
        b"[2026-03-02 09:15:00 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
        b'  File "/venv/model.py", line 1, in load\n'
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. --api-key sk-abcdefgh12345678\n\n"
    )
    log.write_bytes(b"".join(data for _, data in sglang_chunks("0.5.15", tp=2, until="weights")) + fault)
    assert run(["report", str(log), "-o", str(tmp_path / "a.md")]) == 0
    text = (tmp_path / "a.md").read_text("utf-8")
    assert text.startswith("## ✕ FAILED: ")
    assert "### Cause: out of memory" in text
    assert "torch.OutOfMemoryError: CUDA out of memory." in text
    assert "sk-abcdefgh" not in text
    assert capsys.readouterr().out.startswith("failed: ")


def test_a_recording_that_is_cut_short_is_told_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "start.jsonl"
    file.write_bytes(recording()[:-40])
    assert run(["report", str(file), "-o", str(tmp_path / "a.html")]) == 0
    assert "What came before was read." in capsys.readouterr().err
    assert "What came before was read." in (tmp_path / "a.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["x.log"], "Where the report should go is not said."),
        (["-o", "a.html"], "What the report is about is not said."),
        (["x.log", "-o", "a.pdf"], "a name that ends in .html, .md or .svg"),
        (["x.log", "-o", "none/a.html"], "There is no folder none."),
        (["x.log", "-o", "made.html"], "is a directory"),
        (["x.log", "-o", "a.html"], "There is no file x.log."),
        (["./nothing", "-o", "a.html"], "There is no file nothing."),
        (["x.log", "-o", "a.html", "--port", "3"], "x.log is a file: --port is about a host."),
        (["x.log", "-o", "a.html", "--unit", "a", "--seconds", "3"], "--unit, --seconds are about a host."),
        (["x.log", "y.log", "-o", "a.html"], "A report is about one file or about hosts"),
        (["gpu-a", "gpu-a", "-o", "a.html"], "gpu-a is named more than once."),
        (["", "-o", "a.html"], "is not the name of a host"),
        (["--seconds", "9999", "gpu", "-o", "a.html"], "cannot be watched for 9999 s"),
        (["--colour", "-o", "a.html"], "Unknown option: --colour"),
        (["gpu a", "-o", "a.html"], "gpu a"),
    ],
)
def test_a_wrong_command_line(
    argv: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.html").mkdir()
    assert run(["report", *argv]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""
    assert not (tmp_path / "a.html").exists()


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, full = tmp_path / "a.log", Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    log.write_bytes(log_bytes())
    link = tmp_path / "a.html"
    link.symlink_to(full)
    assert run(["report", str(log), "-o", str(link)]) == 1
    assert "No space left" in capsys.readouterr().err


@pytest.mark.long
@needs_linux
async def test_a_host_that_is_watched_for_a_moment(way: Way, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    async with DemoHost("healthy", speed=4) as demo:
        await said(demo, "Load weight begin")
        told = await way.run("report", "box", "--port", str(demo.server_port), "--seconds", "3", "-o", str(page))
    assert told.code == 0, told.err
    text = page.read_text("utf-8")
    assert "the host as it was watched" in text
    assert "There is no nvidia-smi on this host" in text or "GPU memory in use" in text
    assert ">TP7<" in text


@needs_linux
async def test_a_host_that_is_not_there(way: Way, tmp_path: Path) -> None:
    told = await way.run("report", "nowhere.invalid", "-o", str(tmp_path / "a.html"))
    assert told.code == 4
    assert not (tmp_path / "a.html").exists()
