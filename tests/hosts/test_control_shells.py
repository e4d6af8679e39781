"""The scripts that survey, stop and launch servers, under the shells and tools that hosts have."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest
from fakeserver import fake_server, start_time
from launchedserver import NASTY, launched
from loggedin import LoggedIn
from shellhost import Shell
from waiting import alive, eventually

from bringup.core.errors import ChannelRefused
from bringup.hosts.control import Pace, claim, stop, survey
from bringup.hosts.control.gpu_memory import gpu_holders
from bringup.hosts.control.relaunch import capture, relaunch
from bringup.hosts.control.steps import Step
from bringup.hosts.local import LocalHost

SMI = """#!/bin/sh
echo "$(($(cat {count}) - 1))" >{count}
[ "$(cat {count})" -lt 0 ] || echo {pid}
echo 4194303
"""


async def hurried(seconds: float) -> None:
    await asyncio.sleep(seconds / 10)


@pytest.fixture(params=["dash", "bash", "busybox"])
def shell(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name in ("tools", "run"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("BRINGUP_PLACES", str(tmp_path / "run"))
    return Shell(request.param, tmp_path / "tools")


async def test_a_stop(shell: Shell, tmp_path: Path) -> None:
    with fake_server(tmp_path, "deaf", "neighbour", "disguised") as server:
        plan = await survey(shell, server.seen(port=1))
        assert len(plan.members) == 3
        assert plan.launcher is not None
        assert plan.launcher.comm == ") R 1 1 1 x"
        came = await stop(shell, plan, pace=Pace(drain=0.1, sleep=hurried), report=lambda _: None)
        assert (came.complete, len(came.killed)) == (True, 3)
        assert server.running() == [server.pids[-1]]


async def test_a_launch(shell: Shell, tmp_path: Path) -> None:
    with launched(tmp_path, NASTY) as server:
        seen = server.seen()
        first = await server.told(seen.pid)
        kept = await capture(shell, seen, await claim(shell, seen, "restart"))
        server.end()
        started = await relaunch(shell, kept, watch=0)
        assert started.start == start_time(started.pid)
        again = await server.told(started.pid)
        kinds = {**first, "hears": None}
        if shell.bare:
            # A shell by itself cannot set these, and it is told.
            lost = ("-i", "BASH_FUNC_module%%")
            assert {text.split()[1] for text in started.unlike if text.startswith("variable")} == set(lost)
            gone = tuple(f"{name}=".encode().hex() for name in lost)
            kinds["environ"] = [pair for pair in map(str, list(first["environ"])) if not pair.startswith(gone)]
        assert {**again, "hears": None} == kinds


async def test_the_driver_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count, smi = tmp_path / "count", tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    host = LocalHost("box")
    said: list[str] = []

    def tell(step: Step) -> None:
        said.append(step.text)

    with fake_server(tmp_path, workers=0) as server:
        count.write_text("3")
        smi.write_text(SMI.format(count=count, pid=server.pid))
        smi.chmod(0o755)
        plan = await survey(host, server.seen())
        assert plan.waits_for_gpus
        came = await stop(host, plan, signal="KILL", pace=Pace(sleep=hurried), report=tell)
        assert (came.complete, came.gpu_holders) == (True, ())
        assert any(line.startswith("The GPU driver still holds the memory of 1 ended") for line in said)
        count.write_text("1000")
        ticks = iter(range(0, 10_000, 20))
        stuck = await stop(host, plan, signal="KILL", pace=Pace(sleep=hurried, clock=lambda: next(ticks)), report=tell)
        assert (stuck.complete, stuck.gpu_holders) == (False, (server.pid,))
        assert f"still lists the memory of PID {server.pid}" in stuck.sentence


async def test_a_driver_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 12 is not a PID here\nexit 9\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    told = await gpu_holders(LocalHost("box"))
    assert (told.held, told.answered) == ({}, False)
    assert told.unasked == "nvidia-smi failed with exit status 9: 12 is not a PID here"


async def test_a_server_under_a_script_ends_with_its_tree_only(tmp_path: Path) -> None:
    with fake_server(tmp_path, "deaf", shell='"$@"; sleep 60') as server:
        script, launcher = server.pids[:2]
        plan = await survey(LocalHost("box"), server.seen(pid=launcher, start=start_time(launcher)))
        await stop(LocalHost("box"), plan, signal="KILL", pace=Pace(sleep=hurried), report=lambda _: None)
        await eventually(lambda: not alive(launcher))
        assert alive(script)


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs to become somebody else")
async def test_somebody_elses_server(tmp_path: Path) -> None:
    host = LoggedIn()
    with fake_server(tmp_path) as server:
        plan = await survey(host, server.seen())
        assert len(plan.members) == 3
        with pytest.raises(ChannelRefused, match=rf"\(PID {server.pid}\) on box belongs to root.*done") as denied:
            await stop(host, plan, pace=Pace(sleep=hurried), report=lambda _: None)
        assert denied.value.hint == "Log in as root."
        came = await stop(host, plan, signal="KILL", pace=Pace(sleep=hurried), report=lambda _: None)
        assert (came.complete, len(came.remains)) == (False, 3)
        assert "3 would not end: python" in came.sentence
        assert len(server.running()) == 4
