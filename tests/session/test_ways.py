"""A server in a container or unit, watched by a session through stand-ins for its runtime."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakehost import make_program, running
from runtimes import Runtime
from runtimes import runtime as runtime
from simulated import needs_linux
from sshd import free_port
from waiting import eventually

from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.hosts.prefixed import through
from bringup.hosts.recording import load_recording
from bringup.hosts.ways import make_way
from bringup.recordings.encoder import LogPiece
from bringup.session.headless import Headless
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target

pytestmark = needs_linux
PATIENCE = 60.0
ARGS = "model_path='/models/tiny', host='127.0.0.1', port=30000, tp_size=2, pp_size=1, dp_size=1, nnodes=1, node_rank=0"


def session(kind: str, name: str, knowledge: Knowledge, **target: object) -> Session:
    async def connect() -> Host:
        return LocalHost("box")

    there = Target("box", within=os.getpid(), **target)  # type: ignore[arg-type]
    return Session(through(connect, make_way(kind, name)), there, knowledge)


def said(runtime: Runtime, text: str, label: str = "") -> None:
    runtime.say(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{label}] {text}")


def printed(runtime: Runtime) -> None:
    said(runtime, f"server_args=ServerArgs({ARGS})")
    for rank in range(2):
        said(runtime, "Load weight begin. avail mem=78.00 GB", f" TP{rank}")


@pytest.mark.parametrize(("kind", "name"), [("docker", "llm"), ("kube", "default/llm-0/engine")])
async def test_a_server_in_a_container(
    kind: str, name: str, runtime: Runtime, knowledge: Knowledge, tmp_path: Path
) -> None:
    printed(runtime)
    with running(tmp_path, 2, stdout=subprocess.DEVNULL) as tree:
        tree.become_ranks()
        watch = session(kind, name, knowledge)
        await watch.open()
        try:
            look = await Headless(watch).once()
            assert (look.verdict.state, look.verdict.phase) == ("starting", "weights")
            assert [view.pid for view in look.verdict.ranks] == [child.pid for child in tree.children]
            assert look.state.server is not None
            assert look.state.server.pid == tree.pid
            assert (look.state.log.kind, "logs -f --timestamps" in look.state.log.path) == ("stream", True)
            assert [line for line in watch.take_lines() if b"Load weight begin" in line and b"Z" not in line[:30]]
            said(runtime, "Scheduler hit an exception: Traceback (most recent call last):", " TP0")
            runtime.say('  File "/sgl/scheduler.py", line 1, in run', "    x = Scheduler(args)")
            runtime.say("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB.", "")
            said(runtime, "Received sigquit from a child process. It usually means the child failed.")
            await eventually(lambda: watch.verdict().state == "failed", PATIENCE)
        finally:
            await watch.close()


async def test_what_a_container_lacks_is_a_closed_channel(
    runtime: Runtime, knowledge: Knowledge, tmp_path: Path
) -> None:
    programs = tmp_path / "inside"
    for name in ("sh", "cat", "uname", "id", "date", "head", "grep", "sed", "tr", "sleep", "readlink", "ls", "kill"):
        make_program(
            programs, name, f'exec {subprocess.check_output(["/usr/bin/which", name], text=True).strip()} "$@"\n'
        )
    runtime.tell("inside", str(programs))
    printed(runtime)
    with running(tmp_path, 2) as tree:
        tree.become_ranks()
        watch = session("docker", "llm", knowledge)
        await watch.open()
        try:
            await eventually(lambda: bool(watch.state.closed), PATIENCE)
            await eventually(lambda: watch.verdict().phase == "weights", PATIENCE)
            assert any("awk" in why or "nvidia-smi" in why for _, why in watch.state.closed)
            assert any(warning.kind == "channel-missing" for warning in watch.verdict().warnings)
        finally:
            await watch.close()


async def test_a_unit_by_its_main_process_and_its_journal(
    runtime: Runtime, knowledge: Knowledge, tmp_path: Path
) -> None:
    watch = session("unit", "llm.service", knowledge)
    await watch.open()
    try:
        await eventually(lambda: "has no process now" in watch.state.seeks, PATIENCE)
        assert watch.state.seeks.startswith("The systemd unit llm.service on ")
        with running(tmp_path, 2) as other, running(tmp_path, 2) as tree:
            tree.become_ranks()
            printed(runtime)
            runtime.tell("mainpid", str(tree.pid))
            await eventually(lambda: watch.state.server is not None, PATIENCE)
            assert watch.state.server is not None
            assert watch.state.server.pid == tree.pid
            assert other.pid != tree.pid
            await eventually(lambda: watch.verdict().phase == "weights", PATIENCE)
    finally:
        await watch.close()


async def test_a_container_that_is_not_there_ends_a_command_with_4(runtime: Runtime) -> None:
    argv = [sys.executable, "-m", "bringup", "status", "--docker", "other"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert "No such container: other" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--docker", "a", "--unit", "b"], "--docker and --unit are two ways to a server."),
        (["--kube", "pod"], "'pod' cannot be what --kube names."),
        (["--slurm", "job"], "'job' cannot be what --slurm names."),
    ],
)
async def test_what_cannot_be_meant(options: list[str], words: str) -> None:
    argv = [sys.executable, "-m", "bringup", "status", *options]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(
    ("words", "code"), [(["status"], 7), (["wait", "--appear", "1s"], 7), (["wait", "--timeout", "1s"], 7)]
)
async def test_a_job_without_nodes_is_a_server_that_is_waited_for(
    words: list[str], code: int, runtime: Runtime
) -> None:
    argv = [sys.executable, "-m", "bringup", *words, "--slurm", "4712", "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    told = json.loads(done.stdout)
    assert (done.returncode, told["state"]) == (code, "waiting")
    assert "The Slurm job 4712 is pending (Resources)" in told["summary"]


async def test_a_report_about_a_container(runtime: Runtime, tmp_path: Path) -> None:
    printed(runtime)
    port, page = str(free_port()), tmp_path / "start.md"
    with running(tmp_path, 2, ["--model-path", "/models/tiny", "--port", port], stdout=subprocess.DEVNULL) as tree:
        tree.become_ranks()
        argv = [sys.executable, "-m", "bringup", "report", "--docker", "llm", "--port", port, "-o", str(page)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        text = page.read_text("utf-8")
        assert "docker logs -f --timestamps llm" in text
        assert str(tree.pid) in text


async def test_a_recording_of_a_container(runtime: Runtime, tmp_path: Path) -> None:
    printed(runtime)
    port, file = str(free_port()), tmp_path / "start.bringup"
    with running(tmp_path, 2, ["--model-path", "/models/tiny", "--port", port], stdout=subprocess.DEVNULL) as tree:
        tree.become_ranks()
        argv = [sys.executable, "-m", "bringup", "record", "--docker", "llm", "--port", port, "-o", str(file)]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        await eventually(lambda: file.exists() and file.stat().st_size > 2000, PATIENCE)
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.to_thread(process.communicate, timeout=60)
    assert process.returncode == 0, err
    assert str(file) in out
    pieces = [item for _, item in load_recording(file).items if isinstance(item, LogPiece)]
    assert b"Load weight begin" in b"".join(piece.data for piece in pieces)
