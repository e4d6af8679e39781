"""The network itself goes away: the ssh server is in a network namespace whose link is cut, so that no FIN comes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from connectionfaults import DEAD, signal_all, wait_for
from faultwatch import TEXT, Run, moments, plain_connect, play, settle, watched
from sshd import PROGRAM, Sshd

from bringup.hosts.base import Host
from bringup.session.knowledge import Knowledge

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0 or shutil.which("ip") is None, reason="needs root on Linux, and ip"
)
NOTICED_WITHIN = 10.0
Tell = Callable[[str, list[Run]], None]


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


async def test_a_link_that_is_cut(known: Knowledge, reference: Run, tell: Tell) -> None:
    runs = []
    for number, moment in enumerate(moments("link cut")):
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(island(number % 60))
            theirs: list[Sshd] = []

            async def connect(server: Sshd, place: Island = place, theirs: list[Sshd] = theirs) -> Host:
                if not theirs:
                    theirs.append(stack.enter_context(listening(place, server)))
                line = f"[{place.address}]:{server.port} {server.host_key}\n"
                return await plain_connect(server, host=place.address, known_hosts=line.encode())

            async def cut(run: Run, place: Island = place) -> None:
                place.link("down")
                run.later(DEAD, lambda: place.link("up"))

            with tempfile.TemporaryDirectory() as folder:
                async with watched(Path(folder), known, connect=connect) as run:
                    await play(run, cut, moment)
                    await settle(run)
        assert (run.got, run.moves) == (TEXT, [])
        assert run.outcome() == reference.outcome()
        assert run.noticed is not None
        assert run.noticed < NOTICED_WITHIN
        runs.append(run)
    tell("link cut, no FIN", runs)
