"""What an expert would ask for: of real processes of this machine, over SSH and without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import eventually

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process
from bringup.hosts.base import Completed, Host
from bringup.hosts.control.processes import list_processes
from bringup.hosts.diagnose import diagnose
from bringup.hosts.local import LocalHost

SPY = """#!/bin/sh
echo "asked: $*"
echo 'Thread 1 (idle): "MainThread" --api-key topsecret1234'
"""


@pytest.fixture
def sleeper() -> Iterator[int]:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield child.pid
    child.kill()
    child.wait(60)


async def process_of(pid: int) -> Process:
    row = (await list_processes(LocalHost(), [pid]))[pid]
    return Process(pid=pid, ppid=row.ppid, start=row.start, title="")


def by_title(sections: object) -> dict[str, str]:
    return {section.title: section.text for section in sections}  # type: ignore[attr-defined]


async def test_a_stopped_process_is_told_as_stopped(host: Host, sleeper: int) -> None:
    os.kill(sleeper, signal.SIGSTOP)
    await eventually(lambda: "T (stopped)" in Path(f"/proc/{sleeper}/status").read_text())
    found = by_title(await diagnose(host, [await process_of(sleeper)]))
    assert "State:\tT (stopped)".expandtabs(8) in found[f"process {sleeper}"]
    assert "time.sleep(600)" in found[f"process {sleeper}"]
    assert found[f"threads of {sleeper}: how many, state, wait channel"].split()[:2] == ["1", "T"]
    assert {"machine", "memory", "disk space", "nvidia-smi", "kernel log"} <= found.keys()
    assert "MemTotal" in found["memory"]


async def test_py_spy_beside_the_servers_program_is_used_without_pausing_it(
    tmp_path: Path, sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    spy = tmp_path / "py-spy"
    spy.write_text(SPY)
    spy.chmod(0o755)
    found = by_title(await diagnose(LocalHost(), [await process_of(sleeper)], str(tmp_path / "python")))
    text = found[f"Python stacks of {sleeper}"]
    assert f"asked: dump --nonblocking --pid {sleeper}" in text
    assert "topsecret1234" not in text


async def test_a_number_that_was_used_again_is_not_looked_at(sleeper: int) -> None:
    other = Process(pid=sleeper, ppid=1, start=1, title="")
    found = by_title(await diagnose(LocalHost(), [other]))
    assert found[f"process {sleeper}"] == "It has ended."
    assert f"Python stacks of {sleeper}" not in found


async def test_what_hangs_costs_its_own_answer_only(sleeper: int) -> None:
    class Hanging(LocalHost):
        async def run(
            self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20
        ) -> Completed:
            if f" {sleeper} " in script:
                raise ChannelRefused("No answer within 60 s.", reason="timeout")
            return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)

    found = by_title(await diagnose(Hanging(), [await process_of(sleeper)]))
    assert "No answer within 60 s." in found[f"process {sleeper}"]
    assert "MemTotal" in found["memory"]


async def test_a_hostile_title_cannot_make_a_section_or_reach_the_terminal() -> None:
    child = subprocess.Popen(
        ["bash", "-c", "exec -a \"$(printf 'x\\036kernel log\\nlies\\033]52;c;AAAA\\a')\" sleep 600"]
    )
    try:
        await eventually(
            lambda: (
                b"lies" in Path(f"/proc/{child.pid}/cmdline").read_bytes()
                and Path(f"/proc/{child.pid}/comm").read_text() == "sleep\n"
            )
        )
        sections = await diagnose(LocalHost(), [await process_of(child.pid)])
        titles = [section.title for section in sections]
        assert titles.count("kernel log") == 1
        assert all("\x1b" not in section.text for section in sections)
    finally:
        child.kill()
        child.wait(60)
