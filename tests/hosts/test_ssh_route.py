"""Over jump hosts and through proxy commands, to real servers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sshd import SFTP, Sshd, free_port, start_sshd
from waiting import eventually

from bringup.core.errors import Unreachable
from bringup.hosts.ssh import SshHost, SshOptions

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


@pytest.fixture(scope="module")
def inner_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A second server, to be reached through the first."""
    with start_sshd(tmp_path_factory.mktemp("sshd") / "inner", SFTP) as server:
        yield server


async def test_over_a_jump_host(real_sshd: Sshd, inner_sshd: Sshd, tmp_path: Path) -> None:
    known, config = tmp_path / "known_hosts", tmp_path / "config"
    known.write_text(real_sshd.known_line + inner_sshd.known_line)
    config.write_text(real_sshd.block("gate", known) + inner_sshd.block("box", known, "ProxyJump gate"))
    host = await SshHost.login("box", options=SshOptions(ssh_config=config))
    assert host.name == "box"
    done = await host.run("echo $SSH_CONNECTION; echo $HOME")
    assert done.stdout.split()[-1] == str(inner_sshd.home).encode()
    inner_sshd.cut()
    async with asyncio.timeout(60):
        assert "The connection to box was lost: the network or the ssh server ended it" in await host.closed()
    await host.close()
    await eventually(lambda: not real_sshd.sessions())


async def test_a_jump_host_that_fails_is_named(real_sshd: Sshd, bare_sshd: Sshd, tmp_path: Path) -> None:
    known, config = tmp_path / "known_hosts", tmp_path / "config"
    known.write_text(bare_sshd.known_line)
    config.write_text(bare_sshd.block("gate", known) + real_sshd.block("box", known, "ProxyJump gate"))
    error = await said(config)
    assert "The jump host gate could not open a connection to box" in error.what
    config.write_text(f"Host gate\n HostName 127.0.0.1\n Port {free_port()}\nHost box\n ProxyJump gate\n")
    assert "gate (127.0.0.1) refused the connection" in (await said(config)).what


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
    error = await said(config)
    assert "the gate is shut" in error.what


async def said(config: Path) -> Unreachable:
    """Fail to log in and return what is said about it."""
    with pytest.raises(Unreachable) as failure:
        await SshHost.login("box", options=SshOptions(ssh_config=config))
    return failure.value
