"""Logging in to a real sshd, what is said when that fails, and the end of a connection."""

from __future__ import annotations

import asyncio
import base64
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sshd import SFTP, Sshd, free_port, start_sshd, write_key
from waiting import eventually

from bringup.core.errors import ChannelRefused, ConnectionLost, HostKeyChanged, HostKeyUnknown, Unreachable, UsageError
from bringup.hosts.base import Stream
from bringup.hosts.known_hosts import fingerprint
from bringup.hosts.ssh import SshHost, SshOptions
from bringup.hosts.trust import accept


@pytest.fixture(scope="module")
def inner_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A second server, to be reached through the first."""
    with start_sshd(tmp_path_factory.mktemp("sshd") / "inner", SFTP) as server:
        yield server


async def said(options: SshOptions, target: str = "box") -> Unreachable:
    """Fail to log in and return what is said about it."""
    with pytest.raises(Unreachable) as failure:
        await SshHost.login(target, options=options)
    return failure.value


async def read_on(stream: Stream) -> None:
    """Read to the end, which must not look like the end of the command."""
    while await stream.read():
        continue


def test_importing_does_not_load_asyncssh() -> None:
    code = "import sys, bringup.hosts.ssh, bringup.hosts.trust; sys.exit('asyncssh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_an_unknown_host_is_accepted_once_and_known_from_then_on(real_sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "new folder" / "known_hosts"
    config = tmp_path / "config"
    config.write_text(real_sshd.block("box", known, "HashKnownHosts yes"))
    options = SshOptions(ssh_config=config)
    error = await said(options)
    assert isinstance(error, HostKeyUnknown)
    key = real_sshd.host_key.split()[1]
    listed = subprocess.run(
        ["ssh-keygen", "-lf", "-"], input=real_sshd.host_key.encode(), capture_output=True, check=True
    )
    assert error.fingerprint in listed.stdout.decode()
    assert (error.algorithm, error.file) == ("ssh-ed25519", str(known))
    accept(error)
    assert known.read_text().startswith("|1|")
    assert key in known.read_text()
    host = await SshHost.login("box", options=options)
    assert (await host.run("echo in")).stdout == b"in\n"
    await host.close()


async def test_an_unknown_host_without_any_configuration(real_sshd: Sshd) -> None:
    assert isinstance(await said(real_sshd.options(known_hosts=b"")), HostKeyUnknown)


async def test_a_changed_key_is_refused(real_sshd: Sshd, tmp_path: Path) -> None:
    other = write_key(tmp_path / "other").export_public_key().decode()
    known = f"# a line before\n[127.0.0.1]:{real_sshd.port} {other}"
    error = await said(real_sshd.options(known_hosts=known.encode()))
    assert isinstance(error, HostKeyChanged)
    assert "line 2" in error.what


async def test_a_changed_key_of_another_type_is_refused_even_where_new_keys_are_accepted(
    real_sshd: Sshd, tmp_path: Path
) -> None:
    known = tmp_path / "known_hosts"
    ecdsa = tmp_path / "ecdsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", ecdsa], check=True)
    known.write_text(f"[127.0.0.1]:{real_sshd.port} {ecdsa.with_suffix('.pub').read_text()}")
    config = tmp_path / "config"
    config.write_text(real_sshd.block("box", known, "StrictHostKeyChecking no"))
    error = await said(SshOptions(ssh_config=config))
    assert isinstance(error, HostKeyChanged)
    assert f"ssh-keygen -f {known} -R '[127.0.0.1]:{real_sshd.port}'" in error.hint


async def test_a_revoked_key_is_refused(real_sshd: Sshd) -> None:
    known = real_sshd.known_line + f"@revoked * {real_sshd.host_key}\n"
    error = await said(real_sshd.options(known_hosts=known.encode()))
    assert "revoked" in error.what


async def test_a_lax_configuration_accepts_an_unknown_host_and_records_it(real_sshd: Sshd, tmp_path: Path) -> None:
    known, config = tmp_path / "known_hosts", tmp_path / "config"
    config.write_text(real_sshd.block("box", known, "StrictHostKeyChecking accept-new"))
    host = await SshHost.login("box", options=SshOptions(ssh_config=config))
    await host.close()
    assert known.read_text() == real_sshd.known_line


async def test_a_refused_key_says_who_and_what_was_tried(real_sshd: Sshd, tmp_path: Path) -> None:
    key = tmp_path / "stranger"
    write_key(key)
    error = await said(real_sshd.options(client_keys=(key,), username="somebody"))
    assert "refused the login of somebody" in error.what
    assert "stranger" in error.what


async def test_no_key_at_all(real_sshd: Sshd) -> None:
    assert "no key was at hand" in (await said(real_sshd.options(client_keys=()))).what


async def test_a_name_that_does_not_exist(real_sshd: Sshd) -> None:
    error = await said(real_sshd.options(host="no-such-host.invalid"))
    assert "no-such-host.invalid" in error.what
    assert "cannot be resolved" in error.what


async def test_a_port_where_nobody_listens(real_sshd: Sshd) -> None:
    port = free_port()
    error = await said(real_sshd.options(port=port))
    assert f"refused the connection on port {port}" in error.what


async def test_a_host_that_does_not_answer(real_sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = await said(real_sshd.options(port=silent.getsockname()[1], connect_timeout=0.3))
    assert "did not answer within" in error.what


async def test_a_server_that_hangs_up(real_sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as rude:
        failing = asyncio.ensure_future(said(real_sshd.options(port=rude.getsockname()[1])))
        connection, _ = await asyncio.to_thread(rude.accept)
        connection.close()
        assert "closed the connection before the login was done" in (await failing).what


async def test_over_a_jump_host(real_sshd: Sshd, inner_sshd: Sshd, tmp_path: Path) -> None:
    known, config = tmp_path / "known_hosts", tmp_path / "config"
    known.write_text(real_sshd.known_line + inner_sshd.known_line)
    config.write_text(real_sshd.block("gate", known) + inner_sshd.block("box", known, "ProxyJump gate"))
    host = await SshHost.login("box", options=SshOptions(ssh_config=config))
    assert host.name == "box"
    done = await host.run("echo $SSH_CONNECTION; echo $HOME")
    assert done.stdout.split()[-1] == str(inner_sshd.home).encode()
    inner_sshd.cut()
    async with asyncio.timeout(5):
        assert "box" in await host.closed()
    await host.close()
    await eventually(lambda: not real_sshd.sessions())


async def test_a_jump_host_that_fails_is_named(real_sshd: Sshd, bare_sshd: Sshd, tmp_path: Path) -> None:
    known, config = tmp_path / "known_hosts", tmp_path / "config"
    known.write_text(bare_sshd.known_line)
    config.write_text(bare_sshd.block("gate", known) + real_sshd.block("box", known, "ProxyJump gate"))
    error = await said(SshOptions(ssh_config=config))
    assert "The jump host gate could not open a connection to box" in error.what
    config.write_text(f"Host gate\n HostName 127.0.0.1\n Port {free_port()}\nHost box\n ProxyJump gate\n")
    assert "gate (127.0.0.1) refused the connection" in (await said(SshOptions(ssh_config=config))).what


async def test_through_a_proxy_command(real_sshd: Sshd, tmp_path: Path) -> None:
    known, config = tmp_path / "known_hosts", tmp_path / "config"
    known.write_text(real_sshd.known_line)
    relay = tmp_path / "relay.py"
    relay.write_text(RELAY)
    command = f"ProxyCommand {sys.executable} {relay} %h %p"
    config.write_text(real_sshd.block("box", known, command))
    host = await SshHost.login("box", options=SshOptions(ssh_config=config))
    assert (await host.run("echo through")).stdout == b"through\n"
    await host.close()
    await eventually(lambda: not real_sshd.sessions())


async def test_a_proxy_command_that_fails_is_quoted(real_sshd: Sshd, tmp_path: Path) -> None:
    config = tmp_path / "config"
    command = "ProxyCommand echo the gate is shut >&2; exit 1"
    config.write_text(real_sshd.block("box", tmp_path / "known_hosts", command))
    error = await said(SshOptions(ssh_config=config))
    assert "the gate is shut" in error.what


async def test_a_configuration_that_ssh_refuses(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host *\n  Nonsense yes\n")
    with pytest.raises(UsageError, match="line 2"):
        await SshHost.login("box", options=SshOptions(ssh_config=config))


async def test_a_connection_that_is_cut_is_noticed_everywhere(
    real_sshd: Sshd, ssh_host: SshHost, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.touch()
    file = await ssh_host.open(str(log))
    running = asyncio.ensure_future(ssh_host.run("sleep 600", timeout=30))
    async with ssh_host.stream("while :; do echo x; sleep 0.01; done") as stream:
        await stream.read()
        real_sshd.cut()
        async with asyncio.timeout(1):
            assert "box" in await ssh_host.closed()
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
    async with asyncio.timeout(5):
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
                assert "MaxSessions" in refusal.value.hint
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


def test_fingerprints_agree_with_openssh(real_sshd: Sshd, tmp_path: Path) -> None:
    public = tmp_path / "key.pub"
    public.write_text(real_sshd.host_key + "\n")
    listed = subprocess.run(["ssh-keygen", "-lf", public], capture_output=True, text=True, check=True).stdout
    assert listed.split()[1] == fingerprint(base64.b64decode(real_sshd.host_key.split()[1]))


RELAY = """
import socket, sys, threading, os
print("a warning that is no part of the connection", file=sys.stderr, flush=True)
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def up():
    while data := os.read(0, 65536):
        peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while data := peer.recv(65536):
    os.write(1, data)
"""
