"""What is special about the system's ssh as a carrier; the rest is in test_contract."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakehost import make_program
from simulated import title
from sshd import Sshd, start_sshd
from waiting import alive, eventually, pid_in

from bringup.core.errors import ConnectionLost, LoginRefused, Unreachable
from bringup.hosts.openssh import OpensshHost


def options(server: Sshd, folder: Path, *more: str) -> tuple[str, ...]:
    known, config = folder / "known_hosts", folder / "ssh_config"
    known.write_text(server.known_line)
    config.write_text(server.block("box", known, *more))
    return ("-F", str(config))


def clients() -> set[int]:
    """The ssh processes that this test started."""
    mine = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {pid for pid in map(int, mine) if is_client(pid)}


def is_client(pid: int) -> bool:
    with contextlib.suppress(OSError):  # It has ended since.
        return Path(f"/proc/{pid}/comm").read_text() == "ssh\n" and alive(pid)
    return False


async def test_it_leaves_no_process_and_no_folder_behind(
    real_sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = clients()
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setattr("tempfile.tempdir", short)
        host = await OpensshHost.login("box", options=options(real_sshd, tmp_path))
        async with host.stream("while :; do echo x; sleep 1; done") as stream:
            assert await stream.read() == b"x\n"
            (folder,) = Path(short).glob("bringup-*")
            assert folder.stat().st_mode & 0o777 == 0o700
        await host.close()
        assert not list(Path(short).glob("bringup-*"))
    assert clients() == before


@pytest.fixture
def short() -> Iterator[Path]:
    """The path of a socket may have 107 bytes, and pytest's folders are deep."""
    with tempfile.TemporaryDirectory(prefix="ssh", dir="/tmp") as folder:
        yield Path(folder)


async def test_a_standing_connection_is_used_and_left_open(real_sshd: Sshd, tmp_path: Path, short: Path) -> None:
    """Whoever typed a code into `ssh box` in another window needs not type it again: no key would be accepted here."""
    words = options(real_sshd, tmp_path, f"ControlPath {short}/standing", "ControlMaster auto")
    master = subprocess.Popen(["ssh", *words, "-N", "box"], stdin=subprocess.DEVNULL)
    try:
        await eventually((short / "standing").exists)
        (tmp_path / "ssh_config").write_text((tmp_path / "ssh_config").read_text().replace("IdentityFile", "#"))
        host = await OpensshHost.login("box", options=words)
        assert (await host.run("echo here")).stdout == b"here\n"
        await host.close()
        assert alive(master.pid)
        assert subprocess.run(["ssh", *words, "-O", "check", "box"], capture_output=True, check=False).returncode == 0
    finally:
        master.terminate()
        master.wait(60)


async def test_a_cut_connection_is_told_and_what_runs_on_it_ends(tmp_path: Path) -> None:
    with start_sshd(tmp_path / "server") as server:
        host = await OpensshHost.login("box", options=options(server, tmp_path))
        over = asyncio.ensure_future(host.closed())
        runs = tmp_path / "runs"
        running = asyncio.ensure_future(host.run(f"touch {runs}; sleep 600", timeout=600.0))
        await eventually(runs.exists)
        server.cut()
        assert "The connection to box was lost" in await asyncio.wait_for(over, 60)
        with pytest.raises(ConnectionLost):
            await asyncio.wait_for(running, 60)
        with pytest.raises(ConnectionLost):
            await host.run("true")
        await host.close()


async def test_nothing_is_run_by_another_login_where_the_connection_has_just_ended(tmp_path: Path) -> None:
    """ssh logs in anew where nobody holds the socket that it was told of, and what it runs then is no longer ours."""
    with start_sshd(tmp_path / "server") as server:
        host = await OpensshHost.login("box", options=options(server, tmp_path))
        (master,) = (pid for pid in clients() if " ControlMaster=yes " in title(pid))
        os.kill(master, signal.SIGKILL)
        # Before the loop turns: nobody here has seen it end yet.
        with pytest.raises(ConnectionLost):
            await host.run(f"touch {shlex.quote(str(tmp_path / 'run'))}")
        assert not (tmp_path / "run").exists()
        await host.close()


async def test_a_refused_login_says_what_ssh_said(tmp_path: Path) -> None:
    with start_sshd(tmp_path / "server") as server:
        (server.folder / "authorized_keys").write_text("")
        with pytest.raises(LoginRefused, match=r"(?i)permission denied"):
            await OpensshHost.login("box", options=options(server, tmp_path))


async def test_a_host_key_that_is_not_on_record_is_refused(real_sshd: Sshd, tmp_path: Path) -> None:
    words = options(real_sshd, tmp_path)
    (tmp_path / "known_hosts").write_text("")
    with pytest.raises(LoginRefused, match="Host key verification failed"):
        await OpensshHost.login("box", options=words)


async def test_no_ssh_on_this_machine_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="There is no no-such-ssh on this machine"):
        await OpensshHost.login("box", program="no-such-ssh")


async def test_a_master_that_is_killed_is_a_lost_connection(real_sshd: Sshd, tmp_path: Path) -> None:
    before = clients()
    host = await OpensshHost.login("box", options=options(real_sshd, tmp_path))
    (master,) = clients() - before
    os.kill(master, signal.SIGKILL)
    assert "was lost" in await asyncio.wait_for(host.closed(), 60)
    await host.close()


async def test_a_question_that_ssh_does_not_answer_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    hanging = f'case "$*" in *"-O check"*) echo $$ >{asked}; exec sleep 600 ;; esac\nexit 255\n'
    ssh = make_program(tmp_path / "bin", "ssh", hanging)
    for timeout in (0.3, 5.0, 25.0):
        monkeypatch.setattr("bringup.hosts.openssh.master._CHECK_TIMEOUT", timeout)
        with pytest.raises(Unreachable):
            await OpensshHost.login("box", program=str(ssh))
        if asked.exists():  # A machine on which it does not even begin within that time is given more.
            break
    pid = await pid_in(asked)
    await eventually(lambda: not alive(pid))
