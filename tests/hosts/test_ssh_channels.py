"""What is said when a connection ends, and when a host refuses one more thing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sshd import SFTP, Sshd, start_sshd
from waiting import eventually

from bringup.core.errors import ChannelRefused, ConnectionLost
from bringup.hosts.base import Stream
from bringup.hosts.ssh import SshHost


async def read_on(stream: Stream) -> None:
    """Read to the end, which must not look like the end of the command."""
    while await stream.read():
        continue


async def test_a_connection_that_is_cut_is_noticed_everywhere(
    real_sshd: Sshd, ssh_host: SshHost, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.touch()
    file = await ssh_host.open(str(log))
    running = asyncio.ensure_future(ssh_host.run("sleep 600", timeout=600))
    async with ssh_host.stream("while :; do echo x; sleep 0.01; done") as stream:
        await stream.read()
        real_sshd.cut()
        async with asyncio.timeout(60):
            # At once, and not because nobody answers.
            assert "The connection to box was lost: the network or the ssh server ended it" in await ssh_host.closed()
        with pytest.raises(ConnectionLost):
            await read_on(stream)
        with pytest.raises(ConnectionLost):
            await stream.status()
    with pytest.raises(ConnectionLost):
        await running
    for call in (
        file.look(0, 10),
        ssh_host.run("true"),
        ssh_host.open("/etc/passwd"),
        ssh_host.connect("127.0.0.1", 1),
    ):
        with pytest.raises(ConnectionLost, match="box"):
            await call
    with pytest.raises(ConnectionLost):
        async with ssh_host.stream("true"):
            pass
    await file.close()


async def test_a_shell_reader_notices_a_cut(bare_sshd: Sshd, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    host = await SshHost.login("box", options=bare_sshd.options())
    file = await host.open(str(log))
    bare_sshd.cut()
    await host.closed()
    with pytest.raises(ConnectionLost):
        await file.look(0, 10)
    await file.close()
    await host.close()


async def test_closing_ends_the_wait_for_the_end(real_sshd: Sshd) -> None:
    host = await SshHost.login("box", options=real_sshd.options())
    waiting = asyncio.ensure_future(host.closed())
    await host.close()
    async with asyncio.timeout(60):
        assert "it was closed" in await waiting
    await host.close()


async def test_too_many_sessions_are_a_sentence(tmp_path: Path) -> None:
    with start_sshd(tmp_path / "small", SFTP, "MaxSessions 1") as server:
        host = await SshHost.login("box", options=server.options())
        async with host.stream("echo on; while :; do sleep 1; done") as stream:
            await stream.read()
            for call in (host.run("true"), host.open("/etc/passwd")):
                with pytest.raises(ChannelRefused, match="box refused to") as refusal:
                    await call
                assert "only 1 session on one connection: set MaxSessions to" in refusal.value.hint
        await host.close()


async def test_of_two_sessions_one_is_the_logs_and_one_the_probes(tmp_path: Path) -> None:
    begun, done = tmp_path / "begun", tmp_path / "done"
    with start_sshd(tmp_path / "small", SFTP, "MaxSessions 2") as server:
        host = await SshHost.login("box", options=server.options())
        file = await host.open("/etc/passwd")
        short = asyncio.ensure_future(
            host.run(f"touch {begun}; while [ ! -e {done} ]; do sleep 0.1; done", timeout=600)
        )
        await eventually(begun.exists)

        async def probe() -> bytes:
            async with host.stream("echo on; while :; do sleep 1; done") as stream:
                said = await stream.read()
                with pytest.raises(ChannelRefused) as refusal:
                    await host.run("true")
                assert "only 2 sessions on one connection" in refusal.value.hint
            return said

        probing = asyncio.ensure_future(probe())
        await asyncio.wait({probing}, timeout=0.5)
        assert not probing.done()
        done.touch()
        assert (await short).status == 0
        assert await probing == b"on\n"
        assert (await host.run("echo free")).stdout == b"free\n"
        await file.close()
        await host.close()


async def test_an_account_that_may_not_run_commands(tmp_path: Path) -> None:
    with start_sshd(tmp_path / "shut", "ForceCommand echo This account is not available.; exit 1") as server:
        host = await SshHost.login("box", options=server.options())
        with pytest.raises(ChannelRefused, match="This account is not available"):
            await host.run("true")
        async with host.stream("echo never") as stream:
            assert await stream.read() == b""
            with pytest.raises(ChannelRefused, match="This account is not available"):
                await stream.status()
        await host.close()


async def test_a_login_shell_that_prints_into_the_file_service(tmp_path: Path) -> None:
    with start_sshd(tmp_path / "noisy", "Subsystem sftp echo Welcome; exec /usr/lib/openssh/sftp-server") as server:
        host = await SshHost.login("box", options=server.options())
        file = await host.open("/etc/passwd")
        assert (await file.look(0, 4)).size > 0
        await file.close()
        await host.close()
