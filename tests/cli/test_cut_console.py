"""The console itself is killed at each step of a restart; another one is told at once, then goes on or gives up."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cutting import only, servers
from engineserver import Place
from headless import PATIENCE, Way
from headless import way as way
from sshd import free_port
from sshd import real_sshd as real_sshd
from waiting import eventually

STEPS = ("Keeping command", "SIGTERM sent", "SIGKILL goes", "Launching it again")
"""Words of what is told on the way, in this order."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    monkeypatch.setenv("BRINGUP_PLACES", str(made.folder / "run"))
    yield made
    made.end()


class Console:
    """Commands about the one server of a place; it ignores SIGTERM, and nothing that lives on has started it."""

    def __init__(self, way: Way, place: Place) -> None:
        self.way = way
        self.place = place
        port = str(free_port())
        self.port = ("--port", port)
        line = place.line("--deaf", "--port", port)
        place.start("sh", "-c", f"exec setsid sh -c {shlex.quote(f'{line} & exit')}")

    async def killed_at(self, words: str) -> None:
        process = await self.way.start("restart", "box", "--yes", "--drain", "1s", *self.port)
        assert process.stderr is not None
        while words not in (line := (await asyncio.wait_for(process.stderr.readline(), PATIENCE)).decode()):
            assert line, "it has ended before"
        process.kill()
        await process.wait()

    async def at_once(self) -> None:
        """Within the lease, another console does nothing, and says who acts; or it is done already."""
        seen = await self.way.run("status", "box", "--json", *self.port)
        for left in seen.told.get("unfinished", ()):
            assert left["can"] == [] or len(servers(self.place)) == 1
        tried = await self.way.run("restart", "box", "--discard", "--yes", *self.port)
        assert tried.code == 1, tried.out
        assert "is under way by" in tried.err
        assert "Nothing was done" in tried.err

    async def after_the_lease(self) -> str:
        """Return what `status` says once no sign has come for so long."""
        await eventually(self._is_at_rest, PATIENCE)
        (claim,) = self.place.folder.glob("run/*/*-*/claim")
        os.utime(claim, (time.time() - 100,) * 2)
        return " ".join((await self.way.run("status", "box", *self.port)).out.split())

    def _is_at_rest(self) -> bool:
        return not any(b"launching" in file.read_bytes() for file in self.place.folder.glob("run/*/*-*/step"))


@pytest.mark.parametrize("words", STEPS)
async def test_it_is_gone_on_with(place: Place, way: Way, words: str) -> None:
    console = Console(way, place)
    old = await only(place)
    await console.killed_at(words)
    await console.at_once()
    seen = await console.after_the_lease()
    assert "A restart of the sglang server" in seen
    done = await way.run("restart", "box", "--yes", "--drain", "1s", *console.port)
    assert done.code == 0, done.err
    new = await only(place)
    assert new != old
    assert f"PID {new}" in done.out
    assert place.kept() == []


@pytest.mark.parametrize("words", STEPS)
async def test_it_is_given_up(place: Place, way: Way, words: str) -> None:
    console = Console(way, place)
    await only(place)
    await console.killed_at(words)
    seen = await console.after_the_lease()
    runs = servers(place)
    assert ("no server runs" in seen) == (runs == [])
    done = await way.run("restart", "box", "--discard", "--yes", *console.port)
    assert done.code == 0, done.err
    assert servers(place) == runs
    assert place.kept() == []
    assert "cut off" not in (await way.run("status", "box", *console.port)).out


async def test_ctrl_c_says_how_far_it_was_and_lets_others_go_on_at_once(place: Place, way: Way) -> None:
    console = Console(way, place)
    old = await only(place)
    process = await way.start("restart", "box", "--yes", "--drain", "20s", *console.port)
    assert process.stderr is not None
    while "SIGTERM sent" not in (line := (await asyncio.wait_for(process.stderr.readline(), PATIENCE)).decode()):
        assert line, "it has ended before"
    process.send_signal(signal.SIGINT)
    said = " ".join((await asyncio.wait_for(process.stderr.read(), PATIENCE)).decode().split())
    assert await process.wait() == 130
    assert "The restart was broken off. The last step was: " in said
    assert f"`bringup restart box --port {console.port[1]}` goes on with it." in said
    (left,) = (await way.run("status", "box", "--json", *console.port)).told["unfinished"]
    assert "was cut off" in left["sentence"]
    done = await way.run("restart", "box", "--yes", "--drain", "1s", *console.port)
    assert done.code == 0, done.err
    assert await only(place) != old
    assert place.kept() == []
