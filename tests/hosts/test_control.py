"""Servers of real processes are surveyed and stopped; their neighbours are not touched."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from fakeserver import fake_server, start_time
from pauses import Pauses
from waiting import alive, eventually

from bringup.core.events import Process
from bringup.hosts.base import Host
from bringup.hosts.control import Pace, Stopped, Survey, processes, stop, survey

pytestmark = pytest.mark.parametrize("host", ["sftp", "local"], indirect=True)


def is_worker(title: str) -> bool:
    return title.startswith("sglang::")


def pids(found: tuple[Process, ...]) -> set[int]:
    return {process.pid for process in found}


async def end(
    host: Host, plan: Survey, drain: float = 0.3, clock: Callable[[], float] | None = None, **more: object
) -> tuple[Stopped, list[str]]:
    said: list[str] = []
    pauses = Pauses()
    pace = Pace(drain=drain, sleep=pauses.sleep, clock=clock or pauses.clock)
    came = await stop(host, plan, pace=pace, report=lambda step: said.append(step.text), **more)  # type: ignore[arg-type]
    return came, said


async def test_the_tree_and_its_neighbours(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path, "compiler", "neighbour") as server:
        neighbour, compiler = server.pids[-1], server.pids[-2]
        await eventually(lambda: Path(f"/proc/{neighbour}/comm").read_text() == "sleep\n")
        found = await survey(host, server.seen())
        assert pids(found.members) == {server.pid, server.worker(0), server.worker(1), compiler}
        assert pids(found.bystanders) == {neighbour}
        worker = next(each for each in found.members if each.pid == server.worker(1))
        assert worker.title.startswith("sglang::scheduler_TP1 -c  import os, signal")
        assert (worker.ppid, worker.pgid, worker.sid) == (server.pid, server.pid, server.pid)
        assert (worker.start, worker.user) == (start_time(worker.pid), Path(f"/proc/{worker.pid}").owner())
        assert found.launcher is not None
        assert found.launcher.pid == server.pid


async def test_a_server_that_ends_when_asked(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path, "polite", "neighbour") as server:
        came, said = await end(host, await survey(host, server.seen()), drain=60.0)
        assert came.complete
        assert came.killed == ()
        assert len(came.ended) == 3
        assert server.running() == [server.pids[-1]]
        assert said[0].startswith("SIGTERM sent to python")
        assert said[0].endswith(f"(PID {server.pid}).")


async def test_a_server_that_does_not_hear(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path, "deaf", "compiler", "neighbour") as server:
        plan = await survey(host, server.seen())
        came, said = await end(host, plan)
        assert came.complete
        assert pids(came.killed) == pids(plan.members)
        assert server.running() == [server.pids[-1]]
        assert "SIGKILL goes to 4 processes." in said
        assert any(line.startswith("4 processes still run; SIGKILL in 1 s") for line in said), said


async def test_another_process_with_the_same_pid(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path) as server:
        other = server.seen(start=start_time(server.pid) - 1)
        plan = await survey(host, other)
        assert (plan.members, plan.bystanders) == ((), ())
        forged = Process(pid=server.pid, ppid=1, start=other.start, title="python", pgid=server.pid)
        assert await processes.signal(host, [forged], "KILL") == {server.pid: "reused"}
        assert await processes.kill(host, [forged]) == ({server.pid: "reused"}, ())
        came, _ = await end(host, Survey(other, (forged,)))
        assert came.complete
        assert len(server.running()) == 4


async def test_fates(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path) as server:
        members = {each.pid: each for each in (await survey(host, server.seen())).members}
        worker = members[server.worker(0)]
        gone = Process(pid=4_194_303, ppid=1, start=1, title="x")
        assert await processes.kill(host, [worker, gone]) == ({worker.pid: "sent", gone.pid: "gone"}, ())
        await eventually(lambda: not alive(worker.pid))
        assert await processes.kill(host, [worker]) == ({worker.pid: "gone"}, ())
        assert await processes.kill(host, []) == ({}, ())
        assert await processes.signal(host, [worker], "KILL") == {worker.pid: "gone"}


async def test_a_launcher_that_is_gone(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path, "deaf", "neighbour") as server:
        seen = server.seen()
        known = (await survey(host, seen)).members
        os.kill(server.pid, signal.SIGKILL)
        server.process.wait()
        workers = {server.worker(0), server.worker(1)}
        assert pids((await survey(host, seen)).members) == set()
        assert pids((await survey(host, seen, is_engine=is_worker)).members) == workers
        plan = await survey(host, seen, known)
        assert (pids(plan.members), pids(plan.bystanders)) == (workers, {server.pids[-1]})
        assert plan.launcher is None
        came, _ = await end(host, plan)
        assert came.complete
        assert server.running() == [server.pids[-1]]


async def test_a_group_that_a_script_shares(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path, "deaf", shell='"$@" & wait') as server:
        script, launcher = server.pids[:2]
        seen = server.seen(pid=launcher, start=start_time(launcher))
        plan = await survey(host, seen, is_engine=is_worker)
        assert pids(plan.bystanders) == {script}
        os.kill(launcher, signal.SIGKILL)
        await eventually(lambda: not alive(script))
        orphans = await survey(host, seen, is_engine=is_worker)
        assert orphans.members == (), "nothing proves whose they are"
        assert pids((await survey(host, seen, plan.members)).members) == {server.worker(0), server.worker(1)}


async def test_the_second_sigterm(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path, "twice", workers=0) as server:
        heard, pauses = tmp_path / "heard", Pauses()

        async def sleep(seconds: float) -> None:
            # Two signals that come before the first one was heard are one.
            await eventually(heard.exists)
            await pauses.sleep(2.0 * seconds)

        plan, said = await survey(host, server.seen(engine="vllm")), list[str]()
        pace = Pace(drain=30.0, sleep=sleep, clock=pauses.clock)
        came = await stop(host, plan, pace=pace, report=lambda step: said.append(step.text))
        assert came.complete
        assert came.killed == ()
        assert len([line for line in said if line.startswith("SIGTERM sent")]) == 2


async def test_a_port_that_somebody_listens_on(host: Host, tmp_path: Path) -> None:
    with fake_server(tmp_path, workers=0) as server, socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ticks = iter(range(0, 10_000, 3))
        plan = await survey(host, server.seen(port=port))
        came, said = await end(host, plan, 0.0, signal="KILL", clock=lambda: next(ticks))
        assert not came.complete
        user = Path(f"/proc/{os.getpid()}").owner()
        assert came.sentence.endswith(f"port {port} is still listened on by a process of {user}.")
        assert said[0] == "SIGKILL goes to 1 process."
        assert not server.running()


async def test_titles_that_look_like_something_else(host: Host, tmp_path: Path) -> None:
    nasty = "sglang) R 1 1\np 1 1 1 1 1 S root\nn init\t\x1b[2J"
    with fake_server(tmp_path, "disguised", nasty, workers=0) as server:
        found = await survey(host, server.seen())
        assert [each.pid for each in found.members] == [server.pid]
        assert found.members[0].title.endswith("sglang) R 1 1 p 1 1 1 1 1 S root n init")
        assert found.members[0].comm == ") R 1 1 1 x"
