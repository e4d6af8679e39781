"""Servers are found among real processes, and nothing else is taken for one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakehost import running
from waiting import alive, eventually

from bringup.engines import load_engines
from bringup.hosts.discover import Discovery, Orphan, discover, left_behind
from bringup.hosts.local import LocalHost

ENGINES = load_engines()
HERE = os.getpid()


async def look(host: LocalHost, **filters: object) -> Discovery:
    """Discover below this test only: the machine may run other servers."""
    return await discover(host, ENGINES, **{"within": HERE, **filters})  # type: ignore[arg-type]


@contextlib.contextmanager
def started(*command: str, **popen: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command for the length of a block."""
    process = subprocess.Popen(command, start_new_session=True, **popen)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


async def test_no_server_says_what_is_looked_for(machine: LocalHost) -> None:
    found = await look(machine, port=31999)
    assert found.servers == ()
    assert "SGLang" in found.seeks
    assert "port 31999" in found.seeks


async def test_a_server_with_its_command_line(machine: LocalHost, tmp_path: Path) -> None:
    args = (
        "--model-path",
        "/models/big one",
        "--tp",
        "8",
        "--port=31000",
        "--speculative-draft-model-path",
        "/models/d",
    )
    with running(tmp_path, 2, args) as tree:
        tree.become_ranks()
        (server,) = (await look(machine)).servers
    assert (server.pid, server.engine, server.port, server.tp) == (tree.pid, "sglang", 31000, 8)
    assert (server.model, server.draft_model) == ("/models/big one", "/models/d")
    assert server.argv == ("python3", "-m", "sglang.launch_server", *args)
    assert server.cwd == str(tmp_path)
    assert server.user == subprocess.check_output(["id", "-un"], text=True).strip()
    assert abs(server.started_at - tmp_path.joinpath("sglang").stat().st_mtime) < 10


async def test_a_server_whose_children_have_no_titles_yet(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 3) as tree:
        found = await look(machine)
    assert [server.pid for server in found.servers] == [tree.pid]


async def test_the_port_of_the_engine_where_none_is_given(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, args=("--model-path", "m")):
        (server,) = (await look(machine)).servers
    assert server.port == 30000


async def test_arguments_that_look_like_rows_and_shell(machine: LocalHost, tmp_path: Path) -> None:
    odd = "a\nP\t1\tS 0\t; $(touch pwned) \"' `id` \x1b]0;x\x07 \\ é"
    with running(tmp_path, args=("--model-path", odd)) as tree:
        (server,) = (await look(machine)).servers
    assert server.model == odd
    assert server.pid == tree.pid
    assert not (tmp_path / "pwned").exists()


async def test_what_only_names_a_launcher_is_none(machine: LocalHost, tmp_path: Path) -> None:
    text = "python3 -m sglang.launch_server --port 30000"
    log = tmp_path / "sglang.launch_server.log"
    log.touch()
    with (
        started("sh", "-c", f": {text}; sleep 60; :"),
        started("bash", "-c", f"exec -a {shlex.quote('ssh gpu-a ' + text)} sleep 60"),
        started("tail", "-f", str(log)),
        started("timeout", "60", "sh", "-c", f"sleep 60; {text}"),
    ):
        assert (await look(machine)).servers == ()


async def test_two_servers_newest_first_and_the_filters(machine: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    logs = [tmp_path / "a.log", tmp_path / "b.log"]
    with (
        logs[0].open("wb") as first,
        logs[1].open("wb") as second,
        running(tmp_path / "a", 1, ("--port", "31001"), stdout=first, stderr=first) as old,
        running(tmp_path / "b", args=("--port", "31002"), stdout=second, stderr=second) as new,
    ):
        assert [server.pid for server in (await look(machine)).servers] == [new.pid, old.pid]
        assert [server.pid for server in (await look(machine, port=31001)).servers] == [old.pid]
        assert [server.pid for server in (await look(machine, pid=old.children[0].pid)).servers] == [old.pid]
        assert [server.pid for server in (await look(machine, log=str(logs[0]))).servers] == [old.pid]
        assert [server.pid for server in (await look(machine, within=old.pid)).servers] == [old.pid]
        assert (await look(machine, within=old.children[0].pid)).servers == ()


async def test_processes_that_outlive_their_launcher_are_orphans(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 2) as tree:
        tree.become_ranks()
        tree.launcher.do("leave")
        await eventually(lambda: not alive(tree.pid))
        found = await look(machine, within=None)
    mine = [orphan for orphan in found.orphans if orphan.pid in {child.pid for child in tree.children}]
    assert [orphan.title for orphan in sorted(mine, key=lambda orphan: orphan.title)] == [
        "sglang::scheduler_TP0",
        "sglang::scheduler_TP1",
    ]
    assert "without their launcher" in found.seeks


async def test_a_program_of_its_own_that_runs_the_engine(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path, 2, module="my.service") as tree:
        tree.children[0].do("title", "sglang::scheduler_TP0", "sglang::schedul")
        (server,) = (await look(machine)).servers
    assert (server.pid, server.engine) == (tree.pid, "sglang")


async def test_any_process_can_be_named(machine: LocalHost, tmp_path: Path) -> None:
    with started("sleep", "60") as process:
        (server,) = (await look(machine, pid=process.pid)).servers
    assert (server.pid, server.engine, server.port) == (process.pid, "", None)
    assert (await look(machine, pid=process.pid)).servers == ()


@pytest.mark.parametrize(
    ("wrapper", "shown"),
    [
        ("python3 -m sglang.launch_server & wait", ""),
        ("while python3 -m sglang.launch_server; do :; done", "sh -c while python3 -m sglang.launch_server"),
    ],
)
async def test_what_stands_above_is_named_where_it_acts(
    machine: LocalHost, tmp_path: Path, wrapper: str, shown: str
) -> None:
    package = tmp_path / "sglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "launch_server.py").write_text("import time\ntime.sleep(60)\n")
    with started("sh", "-c", wrapper, cwd=tmp_path):
        async with asyncio.timeout(60):
            while not (found := await look(machine)).servers:
                continue
    (server,) = found.servers
    # The test runner itself stands above everything here.
    assert server.parent.startswith(shown) if shown else not server.parent.startswith("sh ")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "1 process of an earlier server lives on without its launcher (PID 100)."),
        (2, "2 processes of an earlier server live on without their launcher (PID 100 and 101)."),
        (10, "10 processes of an earlier server live on without their launcher (PID 100, 101, 102, 103, 104, 105, 106"),
    ],
)
def test_what_an_earlier_server_left_behind_is_counted(number: int, said: str) -> None:
    assert left_behind([Orphan(100 + each, 1, "sglang", "", "root") for each in range(number)]).startswith(said)
