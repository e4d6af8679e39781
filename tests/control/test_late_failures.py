"""A new server that fails before it listens can be launched or edited again; till then no file holds what it takes."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from engineserver import Place
from leftopen import unfinished
from placedhost import LosesTheAnswer, Placed
from waiting import eventually

from bringup.core.errors import ConnectionLost
from bringup.core.events import Server
from bringup.hosts.control import (
    Started,
    Step,
    Unfinished,
    claim,
    discard,
    kept_command,
    release,
    restart,
    resume,
    stop,
    survey,
)


def laid(place: Place) -> list[Path]:
    return list((place.folder / "run").glob("bringup-*/.laid.*"))


async def edited(host: Placed, place: Place, *words: str) -> tuple[Server, Started]:
    """Restart a server with more words."""
    place.start(*place.command("--api-key", "very-secret"))
    server = await place.see(host, await place.one())
    claimed = await claim(host, server, "restart", token="ours")
    argv = [*server.argv, *words]
    started = await restart(host, await survey(host, server), claimed, report=lambda _: None, argv=argv, watch=0)
    await place.one()
    return server, started


async def left_over(host: Placed) -> Unfinished:
    """Wait until something is."""
    deadline = time.monotonic() + 120
    while (left := await unfinished(host, token="theirs")) is None:
        assert time.monotonic() < deadline
    return left


async def test_a_late_failure_of_an_edited_restart_can_be_edited_again(host: Placed, place: Place) -> None:
    server, started = await edited(host, place, "--mem-fraction-static", "0.99")
    assert (place.kept(), place.secrets()) == ([], []), "it comes up, and nothing secret is a file"
    assert await unfinished(host, token="theirs") is None
    with (place.folder / "server.log").open("a") as log:
        log.write("RuntimeError: out of memory\nRank 0 loads\n")
    os.kill(started.pid, signal.SIGKILL)
    left = await left_over(host)
    assert (left.failed, left.can, left.server) == (True, ("launch", "discard"), (server.pid, server.start))
    assert f"the new server (PID {started.pid}) has ended (RuntimeError: out of memory)" in left.sentence
    assert "what it was launched with is kept on the host: launch it now, or discard that" in left.sentence
    command = await kept_command(host, left)
    assert command is not None
    assert command.ran == server.argv
    assert command.kept == (*server.argv, "--mem-fraction-static", "0.99")
    assert {path.stat().st_mode & 0o777 for path in place.secrets()} == {0o600}
    again = await resume(host, left, report=lambda _: None, argv=(*server.argv, "--seed", "7"), watch=0)
    assert await place.one() == again.pid
    words = Path(f"/proc/{again.pid}/cmdline").read_text().split("\0")[:-1]
    assert words == [*server.argv, "--seed", "7"]
    assert f"PLACE={place.folder}" in Path(f"/proc/{again.pid}/environ").read_text().split("\0")
    assert (place.kept(), place.secrets()) == ([], [])


async def test_a_restart_that_was_cut_off_and_done_may_fail_late_like_any(local: Placed, place: Place) -> None:
    with pytest.raises(ConnectionLost):
        await edited(LosesTheAnswer(local.inner, place.environ), place, "--seed", "7")
    done = await left_over(local)
    assert done.new is not None
    assert await place.one() == done.new[0]
    # As the console and the commands do with one that is over.
    await discard(local, replace(done, busy=False))
    assert (place.kept(), place.secrets()) == ([], [])
    assert await unfinished(local, token="theirs") is None
    os.kill(done.new[0], signal.SIGKILL)
    left = await left_over(local)
    assert (left.failed, left.can) == (True, ("launch", "discard"))
    again = await resume(local, left, report=lambda _: None, watch=0)
    assert await place.one() == again.pid
    assert Path(f"/proc/{again.pid}/cmdline").read_text().split("\0")[-3:-1] == ["--seed", "7"]


async def test_nor_is_it_lost_where_nobody_has_looked_before_that_failed(local: Placed, place: Place) -> None:
    with pytest.raises(ConnectionLost):
        await edited(LosesTheAnswer(local.inner, place.environ), place, "--seed", "7")
    os.kill(await place.one(), signal.SIGKILL)
    (folder,) = place.kept()
    # A console that is there would have renewed it within the minute.
    os.utime(folder / "claim", (0, time.time() - 100))
    await eventually(lambda: bool(place.secrets()))
    left = await left_over(local)
    assert (left.failed, left.can) == (True, ("launch", "discard"))
    again = await resume(local, left, report=lambda _: None, watch=0)
    assert await place.one() == again.pid
    assert Path(f"/proc/{again.pid}/cmdline").read_text().split("\0")[-3:-1] == ["--seed", "7"]


async def test_of_one_that_something_else_has_started_nothing_is_laid_aside(local: Placed, place: Place) -> None:
    place.start(*place.command())
    server = await place.see(local, await place.one())
    claimed = await claim(local, server, "restart", token="ours")
    plan = await survey(local, server)
    with pytest.raises(ConnectionLost):
        await restart(local, plan, claimed, report=cut)
    os.kill(server.pid, signal.SIGKILL)
    await eventually(lambda: not place.running())
    place.start(*place.command())
    new = await place.one()
    done = await left_over(local)
    assert (done.new_alive, done.new and done.new[0]) == (True, new)
    await discard(local, replace(done, busy=False))
    assert (place.kept(), place.secrets(), laid(place)) == ([], [], [])


def cut(step: Step) -> None:
    if step.text.startswith("SIGTERM"):
        raise ConnectionLost("The connection was cut by the test.")


async def test_while_its_console_gives_signs_the_restart_stays_that_consoles(local: Placed, place: Place) -> None:
    with pytest.raises(ConnectionLost):
        await edited(LosesTheAnswer(local.inner, place.environ), place)
    os.kill(await place.one(), signal.SIGKILL)
    (folder,) = place.kept()
    # Three looks of what waits for the new server.
    await asyncio.sleep(6.0)
    assert (folder / "step").read_text() == "launched\n"
    assert place.secrets() == []


async def test_one_that_has_listened_before_its_restart_was_ended_has_not_failed(local: Placed, place: Place) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionLost):
            await edited(LosesTheAnswer(local.inner, place.environ), place, "--port", str(free.getsockname()[1]))
        free.listen()
        new = await place.one()
        (folder,) = place.kept()
        await asyncio.sleep(6.0)
    os.kill(new, signal.SIGKILL)
    os.utime(folder / "claim", (0, time.time() - 100))
    await asyncio.sleep(6.0)
    assert (folder / "step").read_text() == "launched\n"
    assert place.secrets() == []


async def test_a_server_that_listens_is_up_and_nothing_is_kept_for_it(local: Placed, place: Place) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        _, started = await edited(local, place, "--port", str(free.getsockname()[1]))
        assert len(laid(place)) == 1
        free.listen()
        await eventually(lambda: not laid(place))
    os.kill(started.pid, signal.SIGKILL)
    await eventually(lambda: not place.running())
    assert await unfinished(local, token="theirs") is None
    assert place.secrets() == []


@pytest.mark.parametrize(
    ("words", "port"),
    [((), "30000"), (("--port=31998",), "31998"), (("--port", "31997", "--seed", "7"), "31997")],
    ids=["taken away", "in one word", "another one"],
)
async def test_what_is_waited_for_is_the_port_of_the_edited_command(
    local: Placed, place: Place, words: tuple[str, ...], port: str
) -> None:
    place.start(*place.command("--port", "31999"))
    server = await place.see(local, await place.one())
    assert server.port == 31999
    claimed = await claim(local, server, "restart", token="ours")
    argv = [*place.command(), *words]
    await restart(local, await survey(local, server), claimed, report=lambda _: None, argv=argv, watch=0)
    (kept,) = laid(place)
    assert (kept / "port").read_text() == f"{port}\n"


async def test_what_is_stopped_on_purpose_has_not_failed(local: Placed, place: Place) -> None:
    _, started = await edited(local, place)
    assert len(laid(place)) == 1
    server = await place.see(local, started.pid, within=None)
    claimed = await claim(local, server, "stop", token="theirs")
    assert laid(place) == []
    await stop(local, await survey(local, server), report=lambda _: None, claimed=claimed)
    await release(local, claimed)
    assert (place.kept(), place.secrets(), laid(place)) == ([], [], [])
    assert await unfinished(local, token="theirs") is None


async def test_what_lay_in_memory_comes_back_there(
    local: Placed, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not os.path.ismount("/dev/shm"):
        pytest.skip("there is no /dev/shm here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        monkeypatch.setenv("BRINGUP_PLACES", f"{place.folder / 'run'}:{memory}")
        server, started = await edited(local, place)
        assert [path for path in Path(memory).rglob("*") if path.is_file()] == []
        os.kill(started.pid, signal.SIGKILL)
        left = await left_over(local)
        assert {path.name for path in Path(memory).rglob("*") if path.is_file()} == {"environ", "argv", "was"}
        assert place.secrets() == []
        again = await resume(local, left, report=lambda _: None, watch=0)
        assert await place.one() == again.pid
        assert Path(f"/proc/{again.pid}/cmdline").read_text().split("\0")[:-1] == list(server.argv)
