"""Commands on a job of Slurm that waits for its nodes say so: the console and a recording until it has them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from threading import Thread
from typing import cast

import pytest
from runtimes import Runtime
from runtimes import runtime as runtime
from simulated import PATIENCE, needs_linux
from waiting import eventually

from bringup.cli import run
from bringup.cli.console import Opener
from bringup.cli.targets import Chosen
from bringup.core.errors import BringupError, Unreachable
from bringup.hosts.ways import make_way
from bringup.session.target import Target
from bringup.ui.operator import Operator

pytestmark = needs_linux


class Listener:
    """An operator who only reads."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def fail(self, error: BringupError) -> None:
        raise error


async def test_it_says_for_what_the_job_waits(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bringup.session.queued.EVERY", 0.01)
    target, listener = Target("login", within=2**22 + 1), Listener()
    opener = Opener("", target, None, chosen=Chosen("", target, way=make_way("slurm", "4712")))
    opening = asyncio.create_task(opener.open(cast(Operator, listener)))
    await eventually(lambda: len(listener.said) > 1, PATIENCE)
    assert listener.said[1].startswith("The Slurm job 4712 is pending (Resources), and expected to start at ")
    runtime.tell("job-4712", "JobId=4712 JobState=TIMEOUT ExitCode=0:0 NodeList=node1")
    with pytest.raises(Unreachable, match="The Slurm job 4712 is over: timeout"):
        await opening
    await opener.close()


async def test_it_opens_once_the_job_has_its_nodes(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bringup.session.queued.EVERY", 0.01)
    target, listener = Target("login", within=2**22 + 1), Listener()
    opener = Opener("", target, None, chosen=Chosen("", target, way=make_way("slurm", "4712")))
    opening = asyncio.create_task(opener.open(cast(Operator, listener)))
    await eventually(lambda: len(listener.said) > 1, PATIENCE)
    runtime.tell("job-4712", "JobId=4712 JobState=RUNNING NodeList=node1 BatchHost=node1")
    console = await opening
    assert console.state.link.status == "up"
    assert "--jobid=4712" in (runtime.folder / "srun").read_text()
    await opener.close()


def test_a_recording_waits_for_the_job_too(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bringup.session.queued.EVERY", 0.01)
    over = Thread(target=cancelled_once_asked, args=(runtime,), daemon=True)
    over.start()
    assert run(["record", "--slurm", "4712", "-o", str(tmp_path / "start.bringup")]) == 4
    over.join(PATIENCE)
    assert not over.is_alive()
    told = capsys.readouterr().err
    assert told.count("The Slurm job 4712 is pending (Resources)") == 1
    assert "The Slurm job 4712 is over: cancelled" in told
    assert not (tmp_path / "start.bringup").exists()


def test_what_looks_only_once_says_that_the_job_waits(
    runtime: Runtime, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "--slurm", "4712", "-o", str(tmp_path / "a.html")]) == 1
    assert "The Slurm job 4712 is pending (Resources)" in capsys.readouterr().err


def cancelled_once_asked(runtime: Runtime) -> None:
    while not (runtime.folder / "asked").exists():
        time.sleep(0.02)
    runtime.tell("job-4712", "JobId=4712 JobState=CANCELLED ExitCode=0:0 NodeList=")
