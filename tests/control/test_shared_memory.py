"""Two places share /dev/shm and not /tmp, as containers can: neither touches what the other one keeps there."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from shellhost import Shell
from waiting import alive, eventually

from bringup.core.events import Server
from bringup.hosts.control import claim, journal, release, resume
from bringup.hosts.control.relaunch import capture

SECRETS = ["argv", "environ", "was"]
GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)
DAY = 86400


@contextmanager
def elsewhere(place: Place, memory: Path) -> Iterator[None]:
    """In another place, with the same memory."""
    (place.folder / "other").mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRINGUP_PLACES", f"{place.folder / 'other'}:{memory}")
        yield


def kept(memory: Path) -> list[str]:
    return sorted(path.name for path in memory.rglob("*") if path.is_file())


def grow_old(folder: Path, seconds: float) -> None:
    for path in (*folder.iterdir(), folder):
        os.utime(path, (time.time() - seconds,) * 2)


async def begin(host: Placed, place: Place) -> Server:
    """Keep what a restart needs of a server that runs, and go as far as its stop."""
    place.start(*place.command())
    server = await place.see(host, await place.one())
    claimed = await claim(host, server, "restart", token="ours")
    await capture(host, server, claimed)
    await journal.step(host, claimed, "stopping")
    return server


async def test_a_look_from_another_place_takes_nothing(local: Placed, place: Place, memory: Path) -> None:
    server = await begin(local, place)
    with elsewhere(place, memory):
        await claim(local, GONE, "stop", token="theirs")
        assert await unfinished(local, token="theirs") is not None
    assert kept(memory) == SECRETS
    os.kill(server.pid, signal.SIGKILL)
    await eventually(lambda: not alive(server.pid))
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.can == ("launch", "discard")
    started = await resume(local, left, report=lambda _: None, watch=0)
    assert await place.one() == started.pid
    assert kept(memory) == []


async def test_an_action_of_the_same_name_is_another_one(local: Placed, place: Place, memory: Path) -> None:
    server = await begin(local, place)
    with elsewhere(place, memory):
        claimed = await claim(local, server, "restart", token="theirs")
        await capture(local, server, claimed)
        assert kept(memory) == sorted([*SECRETS, *SECRETS])
        await release(local, claimed)
    assert kept(memory) == SECRETS
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.kept


@pytest.mark.parametrize("name", ["dash", "bash", "busybox"])
@pytest.mark.parametrize("keeps", [True, False], ids=["keeps something, too", "keeps nothing"])
async def test_what_a_place_that_is_gone_has_left_does_not_lie_for_ever(
    local: Placed, place: Place, memory: Path, keeps: bool, name: str
) -> None:
    tools = place.folder / "tools"
    tools.mkdir()
    other = Shell(name, tools)
    (tools / "rmdir").symlink_to(shutil.which(name) or "")
    server = await begin(local, place)
    (secret,) = memory.rglob("environ")
    shutil.rmtree(place.folder / "run")
    await eventually(lambda: not _keepers(secret.parent))
    with elsewhere(place, memory):
        others = await claim(other, server if keeps else GONE, "restart", token="theirs")
        if keeps:
            await capture(other, server, others)
        grow_old(secret.parent, 3_000)
        await unfinished(other)
        assert kept(secret.parent) == SECRETS
        grow_old(secret.parent, 4_000)
        await unfinished(other)
        assert kept(secret.parent) == ["was"]
        grow_old(secret.parent, 6.5 * DAY)
        await unfinished(other)
        assert kept(secret.parent) == ["was"]
        grow_old(secret.parent, 7.5 * DAY)
        await unfinished(other)
        assert not secret.parent.parent.exists()
        assert kept(memory) == (SECRETS if keeps else [])
        await release(other, others)
        assert kept(memory) == []


async def test_what_is_watched_over_elsewhere_is_needed(local: Placed, place: Place, memory: Path) -> None:
    """However old it is: a drain may take hours, and a clock may be set meanwhile."""
    await begin(local, place)
    (secret,) = memory.rglob("environ")
    grow_old(secret.parent, 2 * DAY)
    await eventually(lambda: time.time() - secret.parent.stat().st_mtime < 60)
    with elsewhere(place, memory):
        await claim(local, GONE, "stop", token="theirs")
    assert kept(memory) == SECRETS


def _keepers(folder: Path) -> list[str]:
    """Processes that watch over a folder in memory."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"keeper" in words and bytes(folder) in words:
            found.append(file.parent.name)
    return found
