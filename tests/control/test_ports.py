"""A port that somebody else holds is refused before the server is stopped, with who holds it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest
from control.test_actions import Told, made, state_of
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from sshd import free_port

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.hosts.control import LaunchCommand, LaunchFailed, claim, restart, resume, survey, why_taken
from bringup.hosts.control.ports import port_in, port_of_shell

SERVER = Server(pid=9, start=1, engine="sglang", argv=(), port=29999)


@pytest.fixture
def held() -> Iterator[int]:
    """A port on which this test listens."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made.getsockname()[1]


async def test_an_edited_port_that_is_taken_is_refused_before_the_stop(host: Placed, place: Place, held: int) -> None:
    place.start(*place.command())
    server = await place.see(host, await place.one())
    claimed = await claim(host, server, "restart", token="ours")
    edited = [*server.argv, "--port", str(held)]
    with pytest.raises(
        BringupError, match=rf"Port {held}, which the edited command takes, is held on box by .*PID {os.getpid()}"
    ):
        await restart(host, await survey(host, server), claimed, report=lambda _: None, argv=edited)
    assert place.running() == [server.pid]
    assert (place.kept(), place.secrets()) == ([], [])


async def test_a_configured_port_that_is_taken_makes_the_plan_say_so(local: Placed, place: Place, held: int) -> None:
    place.start(*place.command())
    state = await state_of(place, local)
    told = made(Told(), launch=LaunchCommand(f"exec {place.line('--port', str(held))}"))
    plan = await told.plan(local, state)
    assert plan.restartable.startswith(f"Port {held}, which the configured command takes, is held on box by ")
    with pytest.raises(BringupError, match="is held on box by"):
        await told.restart(local, plan)
    assert len(place.running()) == 1


async def test_the_plan_is_asked_about_an_edited_command(local: Placed, place: Place, held: int) -> None:
    place.start(*place.command("--api-key", "very-secret"))
    plan = await made(Told()).plan(local, await state_of(place, local))
    assert plan.restartable == ""
    assert await plan.refuses((*plan.argv, "--port", "30000")) == ""
    assert f"Port {held}, " in await plan.refuses((*plan.argv, f"--port={held}"))


async def test_a_restart_that_failed_is_not_launched_on_a_port_that_is_taken(
    local: Placed, place: Place, held: int
) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    (place.folder / "die").touch()
    claimed = await claim(local, server, "restart", token="ours")
    with pytest.raises(LaunchFailed):
        await restart(local, await survey(local, server), claimed, report=lambda _: None, watch=60)
    left = await unfinished(local, token="ours")
    assert left is not None
    with pytest.raises(BringupError, match=rf"Port {held}, which the edited command takes"):
        await resume(local, left, report=lambda _: None, argv=(*server.argv, "--port", str(held)))
    again = await unfinished(local, token="ours")
    assert again is not None
    assert "launch" in again.can


async def test_the_servers_own_sockets_do_not_count(local: Placed, held: int) -> None:
    words = ("python", "--port", str(held))
    assert await why_taken(local, SERVER, (os.getpid(),), argv=words) == ""
    assert f"(PID {os.getpid()}, " in await why_taken(local, SERVER, (), argv=words)
    own = Server(pid=9, start=1, engine="sglang", argv=(), port=held)
    assert await why_taken(local, own, (), argv=words) == "", "it is waited for after the stop"


async def test_two_addresses_do_not_collide(local: Placed, held: int) -> None:
    words = ("python", "--port", str(held), "--host")
    assert await why_taken(local, SERVER, (), argv=(*words, "127.0.0.2")) == ""
    for address in ("127.0.0.1", "0.0.0.0", "localhost"):
        assert await why_taken(local, SERVER, (), argv=(*words, address)) != "", address
    with socket.create_server(("", 0)) as everywhere:
        port = str(everywhere.getsockname()[1])
        assert await why_taken(local, SERVER, (), argv=("python", "--port", port, "--host", "127.0.0.2")) != ""


async def test_a_port_that_is_free_is_nobodys(local: Placed) -> None:
    assert await why_taken(local, SERVER, (), argv=("python", "--port", str(free_port()))) == ""
    assert await why_taken(local, SERVER, (), command="bash run.sh") == ""


def test_the_port_of_a_command() -> None:
    assert port_in(("python", "--port", "1", "--port=31000")) == 31000
    assert port_in(("python", "--port", "http")) is None
    assert port_in(("python", "--port")) is None
    assert port_of_shell("exec vllm serve m --port 8001 >log 2>&1") == 8001
    assert port_of_shell("echo 'open") is None
