"""What an expert would ask for: of real processes of this machine, over SSH and without it."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakehost import make_program
from waiting import eventually

from bringup.core.errors import ChannelRefused, ConnectionLost
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
    line = "import time; print(flush=True); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", line], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        time.sleep(0.01)
    yield child.pid
    child.stdout.close()
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
    assert "time.sleep(600)" in found[f"command line of {sleeper}"]
    assert found[f"threads of {sleeper}: how many, state, wait channel"].split()[:2] == ["1", "T"]
    assert {"machine", "memory", "disk space", "nvidia-smi"} <= found.keys()
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
            if "cmdline" in script or "nvidia-smi" in script:
                raise ChannelRefused("No answer within 30 s.", reason="timeout")
            return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)

    sections = await diagnose(Hanging(), [await process_of(sleeper)])
    found = by_title(sections)
    assert "No answer within 30 s." in found[f"Python stacks of {sleeper}"]
    assert "No answer within 30 s." in found["nvidia-smi"]
    assert "State:" in found[f"process {sleeper}"], "where it is can be told without its memory"
    assert "MemTotal" in found["memory"]
    titles = [section.title for section in sections]
    assert any(title.startswith("kernel log") for title in titles)
    order = [titles.index(title) for title in ("nvidia-smi", f"process {sleeper}", "machine", "disk space")]
    assert order == sorted(order)


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
        assert titles.count("kernel log") <= 1
        assert all("lies" not in section.text or section.title.startswith("command line") for section in sections)
        assert all("\x1b" not in section.text for section in sections)
    finally:
        child.kill()
        child.wait(60)


@pytest.mark.long
async def test_a_py_spy_that_hangs_is_ended_and_said(
    tmp_path: Path, sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["bringup.hosts.diagnose"], "PROGRAM_S", 3)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    make_program(tmp_path, "py-spy", "echo begun\nexec sleep 300\n")
    found = by_title(await diagnose(LocalHost(), [await process_of(sleeper)]))
    assert found[f"Python stacks of {sleeper}"] == "begun\npy-spy did not answer within 3 s, and was ended."
    assert "time.sleep(600)" in found[f"command line of {sleeper}"]


async def test_a_py_spy_that_others_may_write_is_not_run(
    tmp_path: Path, sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a server's program is its user's choice; we may be root."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    folder = tmp_path / "venv"
    make_program(folder, "py-spy", f"touch {tmp_path}/ran\n")
    for strange in (folder, folder / "py-spy"):
        strange.chmod(0o777)
        found = by_title(await diagnose(LocalHost(), [await process_of(sleeper)], str(folder / "python")))
        assert "is not run: somebody else" in found[f"Python stacks of {sleeper}"]
        strange.chmod(0o755)
    if os.getuid() == 0:
        os.chown(folder, 65534, 65534)
        found = by_title(await diagnose(LocalHost(), [await process_of(sleeper)], str(folder / "python")))
        assert "is not run: somebody else" in found[f"Python stacks of {sleeper}"]
    assert not (tmp_path / "ran").exists()


async def test_a_connection_that_is_lost_in_the_middle_leaves_what_was_answered(sleeper: int) -> None:
    class Cut(LocalHost):
        async def run(
            self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20
        ) -> Completed:
            if "meminfo" in script:
                raise ConnectionLost("The connection to box was lost.")
            return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)

    found = by_title(await diagnose(Cut(), [await process_of(sleeper)]))
    assert "The connection to box was lost." in found["machine and memory"]
    assert "State:" in found[f"process {sleeper}"]


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs to become somebody else")
async def test_what_somebody_else_may_not_see_is_said_to_be_hidden(sleeper: int) -> None:
    class Nobody(LocalHost):
        async def run(
            self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20
        ) -> Completed:
            drop = f"exec setpriv --reuid 65534 --regid 65534 --clear-groups /bin/sh -c {shlex.quote(script)}"
            return await super().run(drop, stdin=stdin, timeout=timeout, limit=limit)

    found = by_title(await diagnose(Nobody(), [await process_of(sleeper)]))
    assert "waits in: hidden: only its user or root may see it" in found[f"process {sleeper}"]
    assert found[f"kernel stack of {sleeper}"] == "Only root may see it."


async def test_more_processes_than_are_looked_at_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["bringup.hosts.diagnose"], "MOST_PROCESSES", 0)
    gone = [Process(pid=4_194_300 + number, ppid=1, start=1, title="") for number in range(3)]
    found = by_title(await diagnose(LocalHost(), gone))
    assert found["more processes"] == "3 more of the server were not looked at."


async def test_py_spy_on_the_servers_own_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was started in an activated environment: its first argument is `python` alone."""
    make_program(tmp_path / "venv", "py-spy", 'echo "asked: $*"\n')
    environ = {**os.environ, "PATH": f"/nowhere:{tmp_path / 'venv'}"}
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=environ)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    try:
        await eventually(lambda: b"sleep" in Path(f"/proc/{child.pid}/cmdline").read_bytes())
        found = by_title(await diagnose(LocalHost(), [await process_of(child.pid)], "python"))
        assert found[f"Python stacks of {child.pid}"] == f"asked: dump --nonblocking --pid {child.pid}"
    finally:
        child.kill()
        child.wait(60)


@pytest.mark.long
async def test_a_nvidia_smi_that_hangs_is_waited_for_once_and_what_it_said_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["bringup.hosts.diagnose"], "PROGRAM_S", 3)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    make_program(tmp_path, "nvidia-smi", f"echo asked >>{tmp_path}/calls\necho 'Unable to determine'\nexec sleep 300\n")
    found = by_title(await diagnose(LocalHost(), []))
    assert found["nvidia-smi"] == "Unable to determine\nnvidia-smi did not answer within 3 s, and was ended."
    assert (tmp_path / "calls").read_text() == "asked\n"


@pytest.mark.parametrize(("fails", "calls"), [(2, 3), (99, 8)])
async def test_stacks_that_changed_while_they_were_read_are_read_again(
    tmp_path: Path, sleeper: int, monkeypatch: pytest.MonkeyPatch, fails: int, calls: int
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    text = f"""
echo . >>{tmp_path}/calls
[ "$(wc -l <{tmp_path}/calls)" -gt {fails} ] && {{ echo "Thread 1"; exit 0; }}
printf 'Error: Bad address\\n\\nStack backtrace:\\n   0: main\\n'
exit 1
"""
    make_program(tmp_path, "py-spy", text)
    found = by_title(await diagnose(LocalHost(), [await process_of(sleeper)]))
    said = "Thread 1" if calls > fails else "Error: Bad address\n\npy-spy ended with status 1."
    assert found[f"Python stacks of {sleeper}"] == said
    assert len((tmp_path / "calls").read_text().split()) == calls


@pytest.mark.parametrize("command", ["dash", "bash", "busybox sh"])
async def test_every_shell_that_a_host_may_have_tells_the_same(command: str, sleeper: int) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{command} is not installed")

    class Shell(LocalHost):
        async def run(
            self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20
        ) -> Completed:
            run = f"exec {command} -c {shlex.quote(script)}"
            return await super().run(run, stdin=stdin, timeout=timeout, limit=limit)

    sections = await diagnose(Shell(), [await process_of(sleeper)])
    usual = await diagnose(LocalHost(), [await process_of(sleeper)])
    assert [section.title for section in sections] == [section.title for section in usual]
    assert not any("not found" in section.text or "syntax error" in section.text for section in sections)
