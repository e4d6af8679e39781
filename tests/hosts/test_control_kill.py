"""What a server starts in the very moment of SIGKILL is ended with it, and nothing that is not the server's."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fakehost import Tree, make_program, running
from fakeserver import start_time
from shellhost import Shell
from waiting import alive, eventually

from bringup.core.events import Process, Server
from bringup.hosts.base import Completed, Host
from bringup.hosts.control import Pace, Stopped, processes, stop, survey
from bringup.hosts.local import LocalHost

BOX = LocalHost("box")
FORKS = """
import os, sys, time
print("begun", flush=True)
for _ in range(400):
    if os.fork() == 0:
        os.setsid()
        time.sleep(300)
        os._exit(0)
    time.sleep(0.002)
time.sleep(300)
"""


def seen(tree: Tree) -> Server:
    return Server(pid=tree.pid, start=start_time(tree.pid), engine="sglang", argv=("python3",))


class BeforeTheKill:
    """A host on which something is done between the last look and SIGKILL."""

    def __init__(self, host: Host, act: Callable[[], object]) -> None:
        self._host = host
        self._act: Callable[[], object] | None = act

    def __getattr__(self, name: str) -> object:
        return getattr(self._host, name)

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        if "kill -s KILL" in script and self._act is not None:
            act, self._act = self._act, None
            act()
        return await self._host.run(script, stdin=stdin, timeout=timeout, limit=limit)


async def end(host: Host, tree: Tree, act: Callable[[], object]) -> Stopped:
    pace = Pace(drain=0.0, respawn=0.0)
    plan = await survey(host, seen(tree))
    return await stop(BeforeTheKill(host, act), plan, signal="KILL", pace=pace, report=lambda _: None)  # type: ignore[arg-type]


def ended(*pids: int) -> bool:
    return not any(alive(pid) for pid in pids)


def clear_up(*pids: int) -> None:
    for pid in pids:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("host", [pytest.param("sftp", marks=pytest.mark.long), "local"], indirect=True)
async def test_what_leaves_its_session_between_the_look_and_the_kill(host: Host, tmp_path: Path) -> None:
    with running(tmp_path, 1) as tree:
        made: list[int] = []
        came = await end(host, tree, lambda: made.append(tree.children[0].do("spawn", "setsid", "sleep", "301")))
        try:
            assert came.complete
            assert ended(*made)
            assert {each.pid for each in came.killed} == {tree.pid, tree.children[0].pid, *made}
            told = next(each for each in came.killed if each.pid == made[0])
            assert (told.sid, told.title) == (made[0], "sleep 301")
        finally:
            clear_up(*made)


@pytest.mark.long
async def test_what_it_has_started_itself_by_then_is_ended_too(tmp_path: Path) -> None:
    line = f"sleep 302 & echo $! >{tmp_path}/inner.new; mv {tmp_path}/inner.new {tmp_path}/inner; wait"
    with running(tmp_path, 1) as tree:
        made: list[int] = []

        def act() -> None:
            made.append(tree.children[0].do("spawn", "setsid", "sh", "-c", line))
            deadline = time.monotonic() + 60
            while not (tmp_path / "inner").exists():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            made.append(int((tmp_path / "inner").read_text()))

        came = await end(BOX, tree, act)
        try:
            assert (came.complete, len(came.killed)) == (True, 4)
            assert ended(*made)
        finally:
            clear_up(*made)


async def test_what_is_apart_is_neither_stopped_nor_ended(tmp_path: Path) -> None:
    """A reader of the server's output is its child; what that starts is none of the server's either."""
    with running(tmp_path, 1) as tree:
        reader, inner = tree.children[0].do("spawn", "sleep", "303"), tree.children[0].do("spawn", "sleep", "304")
        rows = await processes.list_processes(BOX, [tree.pid, tree.children[0].pid, reader, inner])
        members = [
            Process(pid=pid, ppid=0, start=rows[pid].start, title="") for pid in (tree.pid, tree.children[0].pid)
        ]
        try:
            fates, started = await processes.kill(BOX, members, [(reader, rows[reader].start)])
            assert set(fates.values()) == {"sent"}
            assert [each.pid for each in started] == [inner]
            await eventually(lambda: ended(tree.children[0].pid, inner))
            assert Path(f"/proc/{reader}/stat").read_text().rpartition(")")[2].split()[0] == "S"
        finally:
            clear_up(reader, inner)


@pytest.mark.long
async def test_one_that_never_stops_starting_others(tmp_path: Path) -> None:
    forks = subprocess.Popen(
        [sys.executable, "-c", FORKS], stdout=subprocess.PIPE, env={**os.environ, "MARK": str(tmp_path)}
    )
    try:
        assert forks.stdout is not None
        forks.stdout.readline()
        await eventually(lambda: len(marked(tmp_path)) > 8)
        process = Process(pid=forks.pid, ppid=0, start=start_time(forks.pid), title="")
        fates, started = await processes.kill(BOX, [process])
        assert fates.pop(forks.pid) == "sent"
        assert set(fates) == {each.pid for each in started}
        await eventually(lambda: not marked(tmp_path))
    finally:
        forks.kill()
        forks.communicate(timeout=60)
        clear_up(*marked(tmp_path))


def marked(folder: Path) -> list[int]:
    """PIDs of what has the folder in its environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"MARK={folder}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if alive(pid)]


async def test_nothing_is_left_stopped_where_nobody_hears_what_became_of_it(tmp_path: Path) -> None:
    class Deaf(LocalHost):
        async def run(self, script: str, **_: object) -> Completed:  # type: ignore[override]
            piped = f"sh -c {shlex.quote(script)} | exec 0<&-"
            environ = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
            subprocess.run(["sh", "-c", piped], check=False, timeout=60, env=environ, start_new_session=True)
            return Completed(0, b"", b"")

    # In the middle of it its whole group is asked to end.
    make_program(tmp_path / "bin", "grep", f'kill -TERM 0; exec {shutil.which("grep")} "$@"\n')
    with running(tmp_path, 1) as tree:
        rows = await processes.list_processes(BOX, [tree.pid])
        process = Process(pid=tree.pid, ppid=0, start=rows[tree.pid].start, title="")
        assert await processes.kill(Deaf("box"), [process]) == ({}, ())
        await eventually(lambda: ended(tree.pid, tree.children[0].pid))


@pytest.mark.long
async def test_it_needs_no_more_than_the_tools_of_a_small_host(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    with running(tmp_path, 1) as tree:
        made: list[int] = []
        shell = Shell("busybox", tmp_path / "tools")
        came = await end(shell, tree, lambda: made.append(tree.children[0].do("spawn", "setsid", "sleep", "305")))
        try:
            assert (came.complete, len(came.killed)) == (True, 3)
            assert ended(*made)
        finally:
            clear_up(*made)
