"""An ssh server in a network namespace of its own, whose link can be cut: then no FIN comes."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from connectionfaults import signal_all, wait_for
from sshd import PROGRAM, Sshd


@dataclass
class Island:
    """A network namespace that one pair of interfaces joins to this one."""

    name: str
    address: str

    def link(self, state: str) -> None:
        """Set its end of the pair "up" or "down"."""
        ip("-n", self.name, "link", "set", f"{self.name}b", state)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def island(number: int) -> Iterator[Island]:
    """Make a namespace for the time of a test."""
    name, net = f"bu{os.getpid() % 100_000}x{number}", f"10.231.{os.getpid() % 250}"
    made = Island(name, f"{net}.{4 * number + 2}")
    try:
        ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespace can be made here: {error.stderr.decode().strip()}")
    try:
        ip("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b", "netns", name)
        ip("addr", "add", f"{net}.{4 * number + 1}/30", "dev", f"{name}a")
        ip("-n", name, "addr", "add", f"{made.address}/30", "dev", f"{name}b")
        ip("link", "set", f"{name}a", "up")
        made.link("up")
        yield made
    finally:
        ip("netns", "del", name)


@contextlib.contextmanager
def listening(place: Island, server: Sshd) -> Iterator[Sshd]:
    """Run the server's configuration within the namespace."""
    config = server.folder / "sshd_config_island"
    config.write_text((server.folder / "sshd_config").read_text().replace("127.0.0.1", place.address))
    process = subprocess.Popen(["ip", "netns", "exec", place.name, PROGRAM, "-D", "-f", config])
    theirs = replace(server, pid=process.pid)
    try:
        wait_for(server.port, place.address)
        yield theirs
    finally:
        sessions = theirs.sessions()
        process.terminate()
        process.wait(10)
        signal_all(sessions, 15)  # type: ignore[arg-type]
