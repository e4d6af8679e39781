"""What a PID that was named is taken for, and what is left of a server is none."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakehost import running
from sshd import free_port
from waiting import alive, eventually

from bringup.engines import load_engines
from bringup.hosts.discover import Discovery, discover
from bringup.hosts.discover.candidates import Candidate, Family
from bringup.hosts.discover.roles import load_roles
from bringup.hosts.discover.rows import read_listing
from bringup.hosts.local import LocalHost

ENGINES = load_engines()
HERE = os.getpid()
PATIENCE = 60.0


def write_server(folder: Path) -> None:
    package = folder / "sglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "launch_server.py").write_text("import time\ntime.sleep(60)\n")


@contextlib.contextmanager
def script_above_a_server(folder: Path) -> Iterator[int]:
    """The PID of a shell that runs something like a server and waits for it."""
    write_server(folder)
    line = "python3 -m sglang.launch_server --port 31005 & wait"
    process = subprocess.Popen(["sh", "-c", line], cwd=folder, start_new_session=True)
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, 9)
        process.wait()


async def found_in_time(host: LocalHost, **where: int) -> Discovery:
    """Look until a server that has only just been started is found."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await discover(host, ENGINES, **where)).servers:  # type: ignore[arg-type]
            continue
    return found


async def test_what_the_shell_that_looks_runs_below_is_no_server(machine: LocalHost, tmp_path: Path) -> None:
    with running(tmp_path):
        found = await discover(machine, ENGINES, pid=HERE)
    assert found.servers == ()
    assert f"PID {HERE} is none: the shell that looks would end together with it." in found.seeks


async def test_a_script_above_a_server_is_not_lent_its_engine_and_port(machine: LocalHost, tmp_path: Path) -> None:
    with script_above_a_server(tmp_path) as pid:
        below = (await found_in_time(machine, within=pid)).servers
        (named,) = (await discover(machine, ENGINES, pid=pid)).servers
        assert (named.pid, named.engine, named.port) == (pid, "", None)
        # The main process of a unit means the server that it runs.
        (server,) = (await discover(machine, ENGINES, pid=pid, main=True)).servers
        assert (server.pid, server.engine, server.port) == (below[0].pid, "sglang", 31005)


@pytest.mark.parametrize(("first", "engine"), [("my-service", "sglang"), ("bash", ""), ("tini", "")])
def test_of_what_is_named_at_the_top_only_a_program_of_its_own_runs_an_engine(first: str, engine: str) -> None:
    top = Candidate(1, 0, 1, "S", (first, "start"))
    worker = Candidate(9, 1, 2, "S", ("sglang::scheduler_TP0",))
    assert Family({1: top, 9: worker}, ENGINES, load_roles()).engine_in(1) == engine


async def test_forks_without_a_title_are_no_servers_once_their_launcher_has_ended(
    machine: LocalHost, tmp_path: Path
) -> None:
    with running(tmp_path, 2, start_new_session=True) as tree:
        children = {child.pid for child in tree.children}
        tree.launcher.do("leave")
        await eventually(lambda: not alive(tree.pid))
        found = await discover(machine, ENGINES)
        assert not {server.pid for server in found.servers} & children
        assert children <= {orphan.pid for orphan in found.orphans}


async def test_a_server_whose_shell_has_ended_stays_one(machine: LocalHost, tmp_path: Path) -> None:
    write_server(tmp_path)
    port = free_port()
    line = f"python3 -m sglang.launch_server --port {port} >/dev/null 2>&1 & echo $!"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, start_new_session=True, check=True, stdout=subprocess.PIPE)
    pid = int(done.stdout)
    try:
        found = await found_in_time(machine, port=port)
        assert [server.pid for server in found.servers] == [pid]
    finally:
        os.kill(pid, 9)


def row(command: str) -> bytes:
    words = " ".join(f"{byte:02x}" for byte in command.encode())
    return b"P\t7\tS 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9000 0 0\n " + words.encode() + b"\n"


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("sh\0-c\0true\0", ("sh", "-c", "true")),
        ("server\0--name\0\0", ("server", "--name", "")),
        ("server\0--name\0a \0", ("server", "--name", "a ")),
        ("sglang::scheduler_TP0\0\0\0\0", ("sglang::scheduler_TP0",)),
        ("sshd: me@pts/0      ", ("sshd: me@pts/0",)),
        ("", ("",)),
    ],
)
def test_the_last_word_of_a_command_line_may_be_empty(command: str, argv: tuple[str, ...]) -> None:
    assert read_listing(row(command)).processes[7].argv == argv
