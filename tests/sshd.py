"""A real OpenSSH server on a high loopback port, with throwaway keys; works as root and as anybody else.

Import the fixtures where they are needed: `from sshd import real_sshd as real_sshd`.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import pytest

from bringup.hosts.ssh import SshOptions

PROGRAM = Path("/usr/sbin/sshd")
SFTP = "Subsystem sftp internal-sftp"
START_TIMEOUT = 60.0


@dataclass(frozen=True)
class Sshd:
    """A running server, and what a client needs to log in to it."""

    folder: Path
    port: int
    pid: int
    host_key: str
    """Algorithm and base64 of the host's public key."""
    client_key: Path
    address: str = "127.0.0.1"

    @property
    def home(self) -> Path:
        """The home folder of whoever logs in: a login shell finds its start files here."""
        return self.folder / "home"

    @property
    def known_line(self) -> str:
        return f"[{self.address}]:{self.port} {self.host_key}\n"

    def options(self, **changes: object) -> SshOptions:
        """Options for a login that must work, with changes."""
        given = {
            "host": self.address,
            "port": self.port,
            "username": getpass.getuser(),
            "client_keys": (self.client_key,),
            "known_hosts": self.known_line.encode(),
        }
        return SshOptions(**{**given, **changes})  # type: ignore[arg-type]

    def block(self, name: str, known_hosts: Path, *more: str) -> str:
        """A Host block of an ssh configuration that logs in here."""
        lines = [
            f"HostName {self.address} # trailing comment\nPort {self.port}\nUser {getpass.getuser()}",
            f"IdentityFile {self.client_key}\nIdentityAgent none",
            f"UserKnownHostsFile {known_hosts}\nGlobalKnownHostsFile none",
            *more,
        ]
        return f"Host {name}\n" + "\n".join(lines) + "\n"

    def sessions(self) -> list[int]:
        """Process numbers of the connections."""
        return _servers_below(self.pid)

    def descendants(self) -> list[int]:
        """Process numbers of all that runs on the connections."""
        found, fresh = [], self.sessions()
        while fresh:
            found += fresh
            fresh = [child for pid in fresh for child in _children(pid) if child not in found]
        return found

    def cut(self) -> None:
        """End all connections without a goodbye."""
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def free_port(address: str = "127.0.0.1") -> int:
    """Return a port on which nobody listens at this moment.

    It lies below those that the kernel gives to whoever asks for any (ip_local_port_range): until it is used, neither a
    connection nor a listener of another test gets it by chance, and who tries whether somebody listens there cannot
    connect to himself. It is never 30000 either, on which a server counts as being that sets no port.
    """
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            port = 10_000 + secrets.randbelow(20_000)
            probe.bind((address, port))
            return port


def write_key(path: Path, passphrase: str | None = None) -> asyncssh.SSHKey:
    """Make a private key file."""
    key = asyncssh.generate_private_key("ssh-ed25519", comment=path.name)
    # The default number of rounds takes half a second.
    key.write_private_key(path, passphrase=passphrase, rounds=1, ignore_few_rounds=True)
    path.chmod(0o600)
    return key


@contextlib.contextmanager
def start_sshd(folder: Path, *more: str, address: str = "127.0.0.1") -> Iterator[Sshd]:
    """Run a server in `folder` with further configuration lines; all of 127.0.0.0/8 is this machine."""
    if not PROGRAM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{PROGRAM} is not installed, and CI must run these tests")
        pytest.skip(f"{PROGRAM} is not installed")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    (folder / "home").mkdir(parents=True)
    host_key, client_key = write_key(folder / "host_key"), write_key(folder / "client_key")
    client_key.write_public_key(folder / "authorized_keys")
    port = free_port(address)
    config = folder / "sshd_config"
    config.write_text("\n".join([*_base(folder, port, address), *more]) + "\n")
    log = folder / "sshd.log"
    process = subprocess.Popen([PROGRAM, "-D", "-f", config, "-E", log], stdin=subprocess.DEVNULL)
    try:
        _wait_for((address, port), process, log)
        public = " ".join(host_key.export_public_key().decode().split()[:2])
        yield Sshd(folder, port, process.pid, public, folder / "client_key", address)
    finally:
        sessions = _servers_below(process.pid)
        process.terminate()
        process.wait(START_TIMEOUT)
        for pid in sessions:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def _servers_below(pid: int) -> list[int]:
    """The sshd processes of the connections: for anybody but root, each has a monitor and a child that serves it."""
    found: list[int] = []
    for child in _children(pid):
        # One that has ended since is none; the others are.
        with contextlib.suppress(OSError):
            if Path(f"/proc/{child}/comm").read_text().startswith("sshd"):
                found += [child, *_servers_below(child)]
    return found


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _base(folder: Path, port: int, address: str) -> list[str]:
    lines = [
        f"ListenAddress {address}:{port}",
        f"HostKey {folder / 'host_key'}",
        f"AuthorizedKeysFile {folder / 'authorized_keys'}",
        f"SetEnv HOME={folder / 'home'}",
        "PidFile none",
        "StrictModes no",
        "UsePAM no",
        "PermitRootLogin yes",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "MaxStartups 100",
    ]
    if _version() >= (9, 8):
        # Refused logins would shut this address out for the tests that follow.
        lines.append("PerSourcePenalties no")
    return lines


def _version() -> tuple[int, int]:
    # Older servers do not know -V, and name their version in the complaint about it.
    said = subprocess.run([PROGRAM, "-V"], capture_output=True, text=True, check=False).stderr
    found = re.search(r"OpenSSH_(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _wait_for(place: tuple[str, int], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    listens = f"Server listening on {place[0]} port {place[1]}."
    while time.monotonic() < deadline and process.poll() is None:
        # Its own word: whoever else listened there would take a connection, too.
        if log.exists() and listens in log.read_text():
            return
        time.sleep(0.02)
    pytest.fail(f"sshd did not start: {log.read_text() if log.exists() else 'no log'}")


@pytest.fixture(scope="session")
def real_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server with SFTP and forwarding."""
    with start_sshd(tmp_path_factory.mktemp("sshd") / "server", SFTP) as server:
        yield server


@pytest.fixture(scope="session")
def bare_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server without SFTP, without forwarding, and with a login shell that prints."""
    with start_sshd(tmp_path_factory.mktemp("sshd") / "bare", "AllowTcpForwarding no") as server:
        (server.home / ".bashrc").write_text("echo welcome to this machine\necho watch out >&2\n")
        yield server
