"""What a stop does about members that come, stop, hide or go while it works."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fakehost import Tree, make_program, running
from fakeserver import fake_server, start_time
from waiting import alive, eventually

from bringup.core.events import Process, Server
from bringup.hosts.base import Host
from bringup.hosts.control import Pace, Stopped, Survey, processes, stop, survey
from bringup.hosts.control.gpu_memory import still_held
from bringup.hosts.control.members import GROWTH
from bringup.hosts.local import LocalHost

BOX = LocalHost("box")


def seen(tree: Tree, **more: object) -> Server:
    given = {"pid": tree.pid, "start": start_time(tree.pid), "engine": "sglang", "argv": ("python3",), **more}
    return Server(**given)  # type: ignore[arg-type]


class Acts:
    """The pauses of a stop, in each of which something is done instead of waiting."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        self._acts = list(acts)
        self._moments = 0

    async def sleep(self, seconds: float) -> None:
        if self._acts:
            self._acts.pop(0)()
        self._moments += 1

    def clock(self) -> float:
        return float(self._moments)


async def end(host: Host, plan: Survey, *acts: Callable[[], object], way: str = "TERM", **more: object) -> Stopped:
    turns = Acts(*acts)
    given = {"drain": 6.0, **more}
    pace = Pace(sleep=turns.sleep, clock=turns.clock, respawn=0.0, **given)  # type: ignore[arg-type]
    return await stop(host, plan, signal=way, pace=pace, report=lambda _: None)  # type: ignore[arg-type]


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("host", ["sftp", "local"], indirect=True)
async def test_what_a_member_starts_during_the_stop_and_leaves_behind_is_ended_too(host: Host, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        (child,) = tree.children
        made: list[int] = []

        def leave() -> None:
            child.do("leave")
            tree.process.send_signal(signal.SIGKILL)

        came = await end(
            host,
            await survey(host, seen(tree)),
            lambda: made.append(child.do("spawn", "setsid", "sleep", "301")),
            *[lambda: None] * GROWTH,
            leave,
            drain=GROWTH + 5.0,
        )
        try:
            assert not alive(made[0]), "it is nobody's child by now, and was seen before"
            assert made[0] in {each.pid for each in came.ended}
            assert came.complete
        finally:
            if alive(made[0]):
                os.kill(made[0], signal.SIGKILL)


async def test_a_launcher_that_is_stopped_is_let_on_to_hear_it(tmp_path: Path) -> None:
    with fake_server(tmp_path, "polite") as server:
        os.kill(server.pid, signal.SIGSTOP)
        await eventually(lambda: state_of(server.pid) == "T")
        pace = Pace(drain=60.0, respawn=0.0)
        came = await stop(BOX, await survey(BOX, server.seen()), pace=pace, report=lambda _: None)
        assert (came.complete, came.killed) == (True, ())


async def test_a_process_whose_first_thread_has_ended_runs_on(tmp_path: Path) -> None:
    line = (
        "import ctypes, sys, threading, time\n"
        "threading.Thread(target=time.sleep, args=(300,)).start()\n"
        "ctypes.CDLL(None).syscall(60, 0)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", line])
    try:
        await eventually(lambda: state_of(child.pid) == "Z")
        row = (await processes.list_processes(BOX, [child.pid]))[child.pid]
        assert (row.ended, row.state) == (False, "S")
        process = Process(pid=child.pid, ppid=row.ppid, start=row.start, title="", pgid=row.pgid)
        assert await processes.signal(BOX, [process], "KILL") == {child.pid: "sent"}
        assert child.wait(60) == -signal.SIGKILL
    finally:
        child.kill()
        child.wait(60)


async def test_the_gentle_way_asks_workers_whose_launcher_has_gone(tmp_path: Path) -> None:
    with running(tmp_path, 2) as tree:
        plan = await survey(BOX, seen(tree))
        tree.launcher.do("leave")
        tree.process.wait(60)
        came = await end(BOX, plan, kills=False)
        assert (came.complete, came.spared, came.killed) == (True, False, ())
        assert len(came.ended) == 3


def holding(folder: Path, *rows: str) -> None:
    make_program(folder / "bin", "nvidia-smi", "".join(f"echo '{row}'\n" for row in rows))


async def test_a_member_that_lives_is_no_ended_process_whose_memory_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with fake_server(tmp_path, "deaf") as server:
        holding(tmp_path, f"{server.worker(0)}, 70000")
        came = await end(BOX, await survey(BOX, server.seen()), kills=False)
        assert came.spared
        plan = await survey(BOX, server.seen())
        monkeypatch.setattr(processes, "kill", denied)
        came = await end(BOX, plan, way="KILL")
        assert len(came.remains) == 3
        assert came.gpu_holders == (), "it has not ended"
        assert "GPU driver" not in came.sentence


async def denied(host: Host, members: list[Process], apart: object) -> tuple[dict[int, str], tuple[Process, ...]]:
    return {each.pid: "denied" for each in members}, ()


@pytest.mark.parametrize("host", ["sftp", "local"], indirect=True)
async def test_what_reads_the_output_of_a_script_that_became_the_server_is_not_ended(
    host: Host, tmp_path: Path
) -> None:
    """`exec > >(tee log) 2>&1; exec python …`: the tee is the server's child, and it has the last lines."""
    copy = tmp_path / "copy.log"
    body = 'while read -r line; do echo "$line" >&3; done; echo the end >&3'
    reader = f'exec 3>{copy}; exec > >({body}); exec "$@"'
    with fake_server(tmp_path, "deaf", shell=f'exec bash -c {shlex.quote(reader)} bash "$@"') as server:
        plan = await survey(host, server.seen())
        (below,) = [each for each in plan.bystanders if each.ppid == server.pid]
        assert below.comm == "bash"
        assert {each.pid for each in plan.members} == {server.pid, server.worker(0), server.worker(1)}
        came = await end(host, plan, way="KILL")
        assert (came.complete, len(came.ended)) == (True, 3)
        await eventually(lambda: copy.read_text().endswith("the end\n"))


async def test_what_comes_and_goes_during_the_stop_is_not_counted(tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        (child,) = tree.children
        made: list[int] = []
        came = await end(
            BOX,
            await survey(BOX, seen(tree)),
            lambda: made.append(child.do("spawn", "sleep", "303")),
            *[lambda: None] * GROWTH,
            lambda: os.kill(made[0], signal.SIGKILL),
            drain=GROWTH + 5.0,
        )
        assert {each.pid for each in came.ended} == {tree.pid, child.pid}
        assert came.complete


async def test_memory_of_a_newcomer_with_the_same_number_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    holding(tmp_path, f"{os.getpid()}, 7", "4194302, 5")
    told = await still_held(BOX, [os.getpid(), 4_194_302, 4_194_301])
    assert (told.held, told.answered) == ({4_194_302: 5}, True)
