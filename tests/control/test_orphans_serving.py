"""What was left behind and still serves somebody is never cleared, nor what serves together with it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engineserver import ENGINES, Place
from fakehost import Member, Tree, running
from placedhost import Placed
from sshd import free_port
from waiting import alive, eventually, is_listening

from bringup.hosts.base import Completed
from bringup.hosts.control import Orphan, Pace, clear, orphans
from bringup.hosts.control.serving import MOST_PORTS, Port, listening, why_serving
from bringup.hosts.discover import discover
from bringup.hosts.local import LocalHost

SERVE = """
import http.server, socket, sys
class Server(http.server.HTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
Server((sys.argv[1], 0), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


@contextmanager
def abandoned(place: Place, children: int = 2) -> Iterator[Tree]:
    """Ranks whose launcher has left them, in a process group of their own."""
    with running(place.folder, children, start_new_session=True) as tree:
        tree.become_ranks()
        tree.launcher.do("leave")
        tree.process.wait(60)
        yield tree


async def look(host: Placed, tree: Tree) -> dict[int, Orphan]:
    pids = {child.pid for child in tree.children}
    return {each.process.pid: each for each in await orphans(host, ENGINES) if each.process.pid in pids}


async def serving(child: Member, address: str = "127.0.0.1") -> int:
    """Let a child start a server; return its PID."""
    pid = int(child.do("spawn", sys.executable, "-c", SERVE, address))
    await eventually(lambda: is_listening(pid))
    return pid


async def test_an_engine_beside_an_api_server_that_answers_is_not_cleared(local: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        engine, front = tree.children
        pid = await serving(front)
        try:
            found = await look(local, tree)
            assert found[front.pid].why_not.startswith("It answers over HTTP on port")
            assert found[engine.pid].why_not.startswith(
                f"PID {pid}, left behind by the same server, answers over HTTP on port"
            )
            came = await clear(local, list(found.values()), ENGINES, lambda _: None, pace=Pace(drain=0.0))
            assert (came.ended, len(came.left_alone), came.complete) == ((), 2, False)
            assert alive(engine.pid)
        finally:
            os.kill(pid, signal.SIGKILL)


async def test_a_neighbour_that_answers_keeps_nobody_of_another_group(local: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        alone, front = tree.children
        front.do("group")
        pid = await serving(front)
        try:
            assert (await look(local, tree))[alone.pid].why_not == ""
        finally:
            os.kill(pid, signal.SIGKILL)


async def test_a_server_on_ipv6_alone_answers_too(local: Placed, place: Place) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6 here")
    with abandoned(place, 1) as tree:
        pid = await serving(tree.children[0], "::1")
        try:
            assert "answers over HTTP" in (await look(local, tree))[tree.children[0].pid].why_not
        finally:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="needs a network namespace")
async def test_a_port_of_another_network_is_not_asked_in_ours(tmp_path: Path) -> None:
    line = "import socket, time; s = socket.create_server(('0.0.0.0', 31999)); time.sleep(300)"
    child = subprocess.Popen(["unshare", "--net", sys.executable, "-c", line])
    try:
        table = Path(f"/proc/{child.pid}/net/tcp")
        await eventually(
            lambda: ":7CFF " in table.read_text() and Path("/proc/self/net/tcp").read_text() != table.read_text()
        )
        assert await listening(LocalHost(), [child.pid]) == [Port(child.pid, "127.0.0.1", 31999, is_apart=True)]
        pid, why = await why_serving(LocalHost(), [child.pid])
        assert (pid, "port 31999 of a container's own network" in why) == (child.pid, True)
    finally:
        child.kill()
        child.wait(20)


class Listens(LocalHost):
    """A host that tells which sockets processes listen on."""

    def __init__(self, *lines: str) -> None:
        super().__init__("box")
        self._said = "".join(f"{line}\n" for line in lines).encode()

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        return Completed(0, self._said, b"")


async def test_addresses_and_nonsense() -> None:
    lines = (
        "7 0100007F:1F40 ",
        "7 00000000:1F41 ",
        "8 00000000000000000000000000000000:1F41 ",
        "8 00000000000000000000000001000000:1F42 ",
        "9 0000000000000000FFFF00000200007F:1F43 apart",
        "x 0100007F:1F44",
        "9 zz00007F:1F44",
        "9 0100007F:1F445",
        "9",
        "",
    )
    found = await listening(Listens(*lines), [7, 8, 9])
    assert [(each.pid, each.address, each.number, each.is_apart) for each in found] == [
        (7, "127.0.0.1", 8000, False),
        (7, "127.0.0.1", 8001, False),
        (8, "::1", 8002, False),
        (9, "127.0.0.2", 8003, True),
    ]


async def test_more_ports_than_can_be_asked_may_serve() -> None:
    lines = [f"7 0100007F:{number:04X} " for number in range(20000, 20001 + MOST_PORTS)]
    pid, why = await why_serving(Listens(*lines), [7])
    assert (pid, f"on {MOST_PORTS + 1} ports" in why) == (7, True)


async def test_what_ended_meanwhile_and_what_is_started_meanwhile(local: Placed, place: Place) -> None:
    with abandoned(place) as tree:
        first, second = tree.children
        found = await look(local, tree)
        first.do("leave")
        await eventually(lambda: not alive(first.pid))
        second.do("ignore", "SIGTERM")
        made: list[int] = []

        async def sleep(seconds: float) -> None:
            made or made.append(second.do("spawn", "setsid", "sleep", "302"))

        moments = iter(range(10_000))
        pace = Pace(drain=3.0, sleep=sleep, clock=lambda: float(next(moments)))
        came = await clear(local, list(found.values()), ENGINES, lambda _: None, pace=pace)
        assert came.complete
        assert came.before == (first.pid,)
        assert {each.pid for each in came.ended} == {second.pid, *made}
        assert f"PID {first.pid} had ended before" in came.sentence


async def test_what_keeps_a_container_open_is_no_launcher_of_what_it_took_over(local: Placed, place: Place) -> None:
    """`docker run … sleep infinity` and a server by `docker exec`, whose launcher was killed."""
    with running(place.folder, 1, start_new_session=True) as tree:
        tree.become_ranks()
        tree.launcher.do("title", "sleep infinity", "sleep")
        rank = tree.children[0].pid
        assert (await look(local, tree))[rank].why_not == ""
        found = await discover(local, ENGINES)
        assert tree.pid not in {server.pid for server in found.servers}


TLS = """
import ssl, sys, http.server
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


@pytest.mark.parametrize("host", ["sftp", "local"], indirect=True)
async def test_a_server_with_a_certificate_answers_too(host: Placed) -> None:
    """It refuses plain HTTP without a word, and answers a client of TLS, if only with an alert."""
    port = free_port()
    child = subprocess.Popen([sys.executable, "-c", TLS, str(port)], stderr=subprocess.DEVNULL)
    try:
        await eventually(lambda: is_listening(child.pid))
        pid, why = await why_serving(host, [child.pid])
        assert (pid, f"on port {port}" in why) == (child.pid, True)
    finally:
        child.kill()
        child.wait(20)
