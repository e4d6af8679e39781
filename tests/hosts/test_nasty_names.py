"""A real server whose folder, log and model have names that a shell could obey: all that is done to it, done to it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from checkpointing import write_shards
from fakehost import running
from fakeserver import start_time
from following import PATIENCE, Following
from sshd import Sshd
from waiting import alive, eventually

from bringup.core.events import Process
from bringup.engines import load_engines
from bringup.hosts.base import Host
from bringup.hosts.checkpoint import look
from bringup.hosts.control import Pace, stop, survey
from bringup.hosts.diagnose import diagnose
from bringup.hosts.discover import discover
from bringup.hosts.local import LocalHost
from bringup.hosts.probe import ProbeDecoder, script
from bringup.hosts.ssh import SshHost

NAMES = {
    "blanks": " two  words ",
    "quotes": 'it\'s "quoted" `id`',
    "line ends": "first\nsecond\n",
    "commands": "a; touch pwned; $(touch pwned) & | > pwned",
    "an option": "-rf",
    "two dashes": "--",
    "patterns": "*?[a-z]{b,c} ~",
    "backslashes": "a\\nb\\",
    "rows": "x\tP\t1\n 2f\nE\t0\x1e",
    "no text": "\udcff\udc80\x1b]0;x\x07\u202e",
    "percent": "%s%n $HOME ${x}",
    "a sentence": "!history #no comment",
}
LINE = b"[2026-03-02 09:14:30] server_args=ServerArgs(tp_size=1)\n"


@pytest.fixture
async def reached(request: pytest.FixtureRequest) -> AsyncIterator[Host]:
    """This machine, and the same over SSH, with SFTP and without: there every path goes through a shell."""
    way = request.param
    if way == "local":
        made: Host = LocalHost("box")
    else:
        server: Sshd = request.getfixturevalue("real_sshd" if way == "sftp" else "bare_sshd")
        made = await SshHost.login("box", options=server.options())
    yield made
    await made.close()


EVERY = [(way, name) for name in NAMES for way in ("shell", "local")] + [("sftp", "no text"), ("sftp", "line ends")]


@pytest.mark.parametrize(("reached", "name"), EVERY, indirect=["reached"], ids=str)
async def test_everything_about_a_server(reached: Host, tmp_path: Path, name: str) -> None:
    name = NAMES[name]
    folder, model = tmp_path / "cwd" / name, tmp_path / "models" / name
    folder.mkdir(parents=True)
    files = write_shards(model, 3)
    log = folder / f"{name}.log"
    package = tmp_path / "package"
    package.mkdir()
    with log.open("wb", buffering=0) as output:
        output.write(LINE)
        args = ("--model-path", str(model), "--port", "31234", "--served-model-name", name)
        # The package lies elsewhere: PYTHONPATH has no way to quote.
        with running(package, 1, args, stdout=output, stderr=output, cwd=folder) as tree:
            tree.become_ranks()
            await discovered_and_read(reached, log, model, files)
            await probed(reached, tree.pid)
            await asked_and_stopped(reached, tree.pid, folder)
    assert not list(tmp_path.rglob("pwned*"))
    assert not Path("pwned").exists()


async def discovered_and_read(host: Host, log: Path, model: Path, files: list[Path]) -> None:
    (server,) = (await discover(host, load_engines(), within=os.getpid())).servers
    assert (server.model, server.cwd) == (str(model), str(log.parent))
    assert [target.path for target in server.logs] == [str(log)]
    following = Following(host, server.logs[0].path)
    await following.rests()
    assert b"".join(following.logs) == LINE
    await following.stop()
    found = await look(host, server, "target", server.model or "", 1.0)
    assert found is not None
    assert found.present == found.expected == tuple(file.name for file in files)
    assert [target.path for target in (await preferred(host, log)).logs] == [str(log)]


async def preferred(host: Host, log: Path):  # type: ignore[no-untyped-def]
    """The server found by the log that it writes."""
    (server,) = (await discover(host, load_engines(), log=str(log), within=os.getpid())).servers
    return server


async def probed(host: Host, pid: int) -> None:
    decoder, found = ProbeDecoder(pid), []
    async with host.stream(script(pid, within=os.getpid(), interval=0.1, patience=0)) as stream:
        while not found:
            data = await asyncio.wait_for(stream.read(), PATIENCE)
            assert data, "the probe has ended"
            found = [event for event in decoder.feed(data) if type(event).__name__ == "ProcessesSeen"]
    assert pid in {process.pid for process in found[0].processes}
    assert decoder.skipped == 0


async def hurried(seconds: float) -> None:
    await asyncio.sleep(seconds / 10)


async def asked_and_stopped(host: Host, pid: int, folder: Path) -> None:
    (server,) = (await discover(host, load_engines(), within=os.getpid())).servers
    process = Process(pid=pid, ppid=os.getpid(), start=start_time(pid), title="")
    sections = await diagnose(host, [process], str(folder / "python"))
    assert any(section.title == f"process {pid}" and "State:" in section.text for section in sections)
    plan = await survey(host, server)
    assert pid in {each.pid for each in plan.members}
    await stop(host, plan, pace=Pace(drain=0.3, sleep=hurried), report=lambda _: None)
    await eventually(lambda: not alive(pid))
