"""What can happen to a connection, made with real processes: each function does it to a running watch."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from faultwatch import LOGIN, Run, plain_connect
from sshd import PROGRAM, Sshd, free_port, write_key
from waiting import alive

from bringup.hosts.base import Host
from bringup.hosts.ssh import SshHost, SshOptions

DEAD = 1.6
"""Seconds for which a peer is silent: longer than the keepalive of these tests allows."""
SHORT = 0.4
"""Seconds for which it is silent within what the keepalive allows."""
PROXY = """import os, socket, sys, threading
peer = socket.create_connection(("127.0.0.1", int(open(sys.argv[1]).read())))
def up():
    while data := os.read(0, 65536):
        peer.sendall(data)
    peer.close()
threading.Thread(target=up, daemon=True).start()
while data := peer.recv(65536):
    os.write(1, data)
"""


def signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


async def killed(run: Run) -> None:
    """The processes of the connection are killed."""
    run.server.cut()


async def dead_peer(run: Run) -> None:
    """The other end stops answering for ever, without a goodbye."""
    pids = run.server.sessions()
    signal_all(pids, signal.SIGSTOP)
    run.cleanups.append(lambda: signal_all(pids, signal.SIGKILL))


async def stalled(run: Run) -> None:
    """The other end is silent for a while, within the keepalive, and goes on."""
    pids = run.server.sessions()
    signal_all(pids, signal.SIGSTOP)
    asyncio.get_running_loop().call_later(SHORT, signal_all, pids, signal.SIGCONT)


async def stalled_for_long(run: Run) -> None:
    """The other end is silent for longer than the keepalive allows, then both ends find out."""
    pids = run.server.sessions()
    signal_all(pids, signal.SIGSTOP)
    asyncio.get_running_loop().call_later(DEAD, signal_all, pids, signal.SIGCONT)


def listen(server: Sshd, port: int | None = None) -> Callable[[], None]:
    """Start another listener with the server's configuration, as it is now; returns what ends it."""
    config = server.folder / "sshd_config"
    if port is not None:
        text = config.read_text().replace(f"127.0.0.1:{server.port}", f"127.0.0.1:{port}")
        config = server.folder / f"sshd_config_{port}"
        config.write_text(text)
    process = subprocess.Popen([PROGRAM, "-D", "-f", config, "-E", server.folder / "again.log"])

    def end() -> None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.terminate()
        process.wait(10)
        signal_all([int(pid) for pid in children], signal.SIGTERM)

    return end


def listen_as(server: Sshd, user: str) -> tuple[Sshd, Callable[[], None]]:
    """Start a listener that knows a user whom this machine does not have; returns it and what ends it.

    The user stands in a file that is mounted over /etc/passwd in a mount namespace of the listener's own.
    """
    port = free_port()
    config, users = server.folder / "sshd_config_user", server.folder / "passwd"
    config.write_text((server.folder / "sshd_config").read_text().replace(f":{server.port}", f":{port}"))
    users.write_text(f"{Path('/etc/passwd').read_text()}{user}:*:54321:54321::{server.home}:/bin/sh\n")
    script = f"mount --make-rprivate / && mount --bind {users} /etc/passwd && exec {PROGRAM} -D -f {config}"
    process = subprocess.Popen(["unshare", "-m", "sh", "-c", f"{script} -E {server.folder}/user.log"])
    theirs = replace(server, port=port, pid=process.pid)
    wait_for(port)

    def end() -> None:
        sessions = theirs.sessions()
        process.terminate()
        process.wait(10)
        signal_all(sessions, signal.SIGTERM)

    return theirs, end


def wait_for(port: int, address: str = "127.0.0.1") -> None:
    """Wait until somebody listens."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((address, port), 1):
            return
        time.sleep(0.02)
    raise AssertionError(f"nobody listens on {address}:{port}")


def stop_listening(server: Sshd) -> None:
    """End the listener and its connections; its port is free then."""
    sessions = server.sessions()
    os.kill(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + 60
    # While it still listens another one on its port fails, and who waits for that one connects to this one.
    while alive(server.pid):
        assert time.monotonic() < deadline, "the listener did not end"
        time.sleep(0.005)
    signal_all(sessions, signal.SIGKILL)


async def sshd_restart(run: Run) -> None:
    """The ssh server and all its connections end, and it is started again a little later."""
    stop_listening(run.server)
    asyncio.get_running_loop().call_later(0.7, lambda: run.cleanups.append(listen(run.server)))


async def new_address(run: Run) -> None:
    """The host has another address from now on: the old one answers no more."""
    port = free_port()
    run.cleanups.append(listen(run.server, port))
    (run.server.folder / "address").write_text(str(port))
    stop_listening(run.server)


async def connect_by_proxy(server: Sshd) -> Host:
    """Connect by a ProxyCommand that looks up the address anew each time."""
    folder = server.folder
    if not (folder / "ssh_config").exists():
        (folder / "address").write_text(str(server.port))
        (folder / "proxy.py").write_text(PROXY)
        (folder / "known_hosts").write_text(server.known_line)
        more = (f"ProxyCommand {sys.executable} -S {folder}/proxy.py {folder}/address", "ServerAliveInterval 1")
        (folder / "ssh_config").write_text(server.block("box", folder / "known_hosts", *more))
    return await SshHost.login("box", options=SshOptions(ssh_config=folder / "ssh_config", connect_timeout=LOGIN))


async def login_revoked(run: Run) -> None:
    """The key is taken out of authorized_keys and the connection ends."""
    (run.server.folder / "authorized_keys").write_text("")
    run.server.cut()


async def host_key_changed(run: Run) -> None:
    """Another machine answers at the old address."""
    stop_listening(run.server)
    write_key(run.server.folder / "host_key")
    end = listen(run.server)
    run.cleanups.append(end)
    wait_for(run.server.port)


CONNECTIONS: dict[str, Callable[[Run], Awaitable[None]]] = {
    "connection killed": killed,
    "peer dead, no FIN": dead_peer,
    "network stalled briefly": stalled,
    "network stalled for long": stalled_for_long,
    "sshd restarted": sshd_restart,
    "address changed": new_address,
}
CONNECTS: dict[str, Callable[[Sshd], Awaitable[Host]]] = {"address changed": connect_by_proxy}
"""Faults that need another way in than the plain one."""


def way_in(name: str) -> Callable[[Sshd], Awaitable[Host]]:
    return CONNECTS.get(name, plain_connect)
