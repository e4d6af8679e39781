"""The simulated host: an SSH server on loopback with throwaway keys, in front of real processes."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import socket
import sys
from types import TracebackType
from typing import Self

import asyncssh

from bringup.core.errors import BringupError, UsageError
from bringup.demo import scenarios
from bringup.demo.exec import Session
from bringup.demo.home import ROOM, Home, make_root
from bringup.demo.plan import Plan
from bringup.demo.scenarios import Scenario
from bringup.demo.spawner import Running, Spawner
from bringup.hosts.ssh.config import SshOptions
from bringup.hosts.ssh.tokens import local_user

LOOPBACK = ("127.0.0.1", "::1", "localhost")
KEY_TYPE = "ssh-ed25519"
PORTS = range(20000, 30000)
"""Below SGLang's own default, on which a real server of this machine may be."""
MOST_TRIES = 500


class DemoHost:
    """A machine that exists while the context is open: log in with what it offers, or look at it from outside.

    Raises UsageError on a system that is not Linux, BringupError when it cannot be started.
    """

    def __init__(self, scenario: Scenario | str = "healthy", *, speed: float = 1.0, launch: bool = True) -> None:
        self.scenario = scenarios.load(scenario) if isinstance(scenario, str) else scenario
        if not speed > 0:
            raise UsageError("The demo's speed must be more than 0.")
        self._speed = speed
        self._launch = launch
        self.host = "127.0.0.1"
        self.port = 0
        """Port of the SSH server."""
        self.server_port = 0
        """Port on which the simulated server will listen."""
        self.username = local_user()
        self.within = 0
        """PID of the process above everything that runs on this host: discovery looks nowhere else."""
        self.known_hosts = b""
        """Line of a known_hosts file with this host's key; `home.known_hosts` is a file with it."""
        self.launched: Running | None = None
        self._guests: set[asyncssh.SSHServerConnection] = set()

    @property
    def home(self) -> Home:
        """The host's files: `home.log` is the server's log, `home.key` the client's private key."""
        return self._home

    @property
    def options(self) -> SshOptions:
        """How the client logs in, with nothing of the operator's own configuration."""
        return SshOptions(
            host=self.host,
            port=self.port,
            username=self.username,
            client_keys=(self._home.key,),
            known_hosts=self.known_hosts,
        )

    async def __aenter__(self) -> Self:
        """Build the host, open its door, and launch the server."""
        if sys.platform != "linux":
            raise UsageError("The demo's simulated host needs Linux.", "Replay a recording instead.")
        self._home = Home(make_root())
        self._spawner: Spawner | None = None
        self._door: asyncssh.SSHAcceptor | None = None
        try:
            await self._open()
        except OSError as error:
            await self._close()
            what = f"The demo's host could not be built in {self._home.root.parent}: {error.strerror or error}."
            raise BringupError(what, ROOM) from error
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything that runs on the host and remove its files."""
        await self._close()

    def launch(self) -> Running:
        """Launch the server, as somebody with `nohup setsid ... >> server.log 2>&1 &` would."""
        if self._spawner is None:
            raise BringupError("The demo's host is not running.")
        home = self._home
        command = home.command(self._plan, self.server_port)
        null = os.open(os.devnull, os.O_RDONLY)
        out = os.open(home.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            environ = home.server_environ(self.username)
            self.launched = self._spawner.run(str(home.python), command, "", environ, (null, out, out))
        finally:
            os.close(null)
            os.close(out)
        return self.launched

    async def _open(self) -> None:
        self._plan = self._home.build(_at_speed(self.scenario.plan, self._speed))
        self.server_port = _free_port()
        self._spawner = Spawner(self._home.root, self._home.python)
        await self._spawner.start()
        self.within = self._spawner.pid
        await self._listen(self._spawner)
        if self._plan.fault.kind == "port-in-use":
            await self._occupy(self._spawner)
        if self._launch:
            await self.launch().started

    async def _listen(self, spawner: Spawner) -> None:
        host_key = asyncssh.generate_private_key(KEY_TYPE)
        self.client_key = asyncssh.generate_private_key(KEY_TYPE)
        environ = self._home.environ(self.username)
        try:
            self._door = await asyncssh.listen(
                self.host,
                0,
                server_factory=lambda: _Door(self.username, self.client_key, self._guests, spawner, environ),
                server_host_keys=[host_key],
                encoding=None,
                allow_pty=False,
                x11_forwarding=False,
                agent_forwarding=False,
                gss_host=None,
                server_version="bringup_demo",
            )
        except OSError as error:
            what = f"The demo's SSH server cannot listen on {self.host}: {error.strerror or error}."
            raise BringupError(what, "Is loopback up, and may it be used?") from error
        self.port = self._door.get_port()
        self.known_hosts = f"[{self.host}]:{self.port} ".encode() + host_key.export_public_key()
        self._home.known_hosts.write_bytes(self.known_hosts)
        self._home.key.touch(0o600)
        self._home.key.write_bytes(self.client_key.export_private_key())

    async def _occupy(self, spawner: Spawner) -> None:
        """Start another program on the server's port and wait until it listens."""
        argv = ("python3", "-m", "http.server", str(self.server_port), "--bind", "127.0.0.1")
        null = os.open(os.devnull, os.O_RDWR)
        try:
            environ = self._home.environ(self.username)
            await spawner.run(str(self._home.python), argv, "", environ, (null, null, null)).started
        finally:
            os.close(null)

    async def _close(self) -> None:
        if self._door is not None:
            self._door.close()
        for guest in list(self._guests):
            guest.abort()
        if self._spawner is not None:
            await self._spawner.stop()
        self._home.remove()


class _Door(asyncssh.SSHServer):
    """Who may come in, and what for: one key, from loopback, to loopback."""

    def __init__(
        self,
        user: str,
        key: asyncssh.SSHKey,
        guests: set[asyncssh.SSHServerConnection],
        spawner: Spawner,
        environ: dict[str, str],
    ) -> None:
        self._user = user
        self._key = key.public_data
        self._spawner = spawner
        self._environ = environ
        self._guests = guests
        self._guest: asyncssh.SSHServerConnection | None = None
        self._local = False

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Look where the client comes from."""
        self._guest = conn
        self._guests.add(conn)
        self._local = conn.get_extra_info("peername")[0] in LOOPBACK

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        if self._guest is not None:
            self._guests.discard(self._guest)

    def begin_auth(self, username: str) -> bool:
        """Ask everybody to prove who they are."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Offer keys, and nothing else."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Accept the one key that was made for this run."""
        return self._local and username == self._user and key.public_data == self._key

    def session_requested(self) -> Session:
        """Give a session for a command or for SFTP."""
        return Session(self._spawner, self._environ)

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        """Connect to this host's own ports, and to nowhere else."""
        if dest_host not in LOOPBACK:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed")
        return True


def _at_speed(plan: Plan, speed: float) -> Plan:
    return dataclasses.replace(plan, speed=speed)


def _free_port() -> int:
    """Return a port on which nobody listens.

    Below the range from which the kernel takes source ports (ip(7)): a connection to a port of that range on which
    nobody listens can, by chance, reach itself.
    """
    for _ in range(MOST_TRIES):
        port = secrets.choice(PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    span = f"{PORTS.start} to {PORTS.stop - 1}"
    raise BringupError(
        f"The demo found no free port from {span}, with {MOST_TRIES} tries.", "Is loopback up, and may it be used?"
    )
