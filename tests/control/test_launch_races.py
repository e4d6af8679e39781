"""What is written down of earlier launches, when numbers were given away again, and where the log of each began."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from engineserver import Place
from placedhost import Placed
from waiting import eventually

from bringup.core.events import Server
from bringup.hosts.control import (
    Beginning,
    LaunchCommand,
    Pace,
    all_unfinished,
    claim,
    find_beginning,
    launch,
    restart,
    survey,
)

OLD = b"Traceback (most recent call last):\nModuleNotFoundError: No module named 'sgl_kernel'\n"
DAYS = 86400


def home(place: Place) -> Path:
    made = place.folder / "run" / f"bringup-{os.getuid()}"
    made.mkdir(mode=0o700, exist_ok=True)
    return made


def written(place: Place) -> list[str]:
    return sorted(path.name for path in home(place).glob("*.begins"))


def note(place: Place, of: str, days: float = 0.0) -> Path:
    path = home(place) / f"{of}.begins"
    path.write_text("7 61\n")
    os.utime(path, (time.time() - days * DAYS,) * 2)
    return path


async def serving(host: Placed, place: Place) -> Server:
    place.start(*place.command(), append=True)
    await eventually(lambda: b"a server starts\n" in place.log.read_bytes())
    return await place.see(host, await place.one(), within=None)


async def again(host: Placed, server: Server) -> str:
    claimed = await claim(host, server, "restart", token="ours")
    plan, pace = await survey(host, server), Pace(respawn=0.0)
    started = await restart(host, plan, claimed, report=lambda _: None, watch=1, pace=pace, regardless=True)
    return f"{started.pid}:{started.start}"


async def test_where_the_log_of_a_restart_begins_is_written_down(host: Placed, place: Place) -> None:
    place.log.write_bytes(OLD)
    first = await serving(host, place)
    assert await find_beginning(host, first) is None
    before = place.log.read_bytes()
    new = await again(host, first)
    server = await place.see(host, await place.one(), within=None)
    assert await find_beginning(host, server) == Beginning(len(before), before[-64:])
    (path,) = home(place).glob("*.begins")
    assert (path.name, stat.S_IMODE(path.stat().st_mode)) == (f"{new}.begins", 0o600)


async def test_those_of_old_launches_do_not_pile_up(local: Placed, place: Place) -> None:
    server = await serving(local, place)
    gone = [note(place, f"{4194304 + number}:1", number / DAYS) for number in range(80)]
    new = await again(local, server)
    assert written(place) == sorted([f"{new}.begins", *(path.name for path in gone[:63])])


async def test_the_old_ones_of_what_has_ended_are_removed(local: Placed, place: Place) -> None:
    server = await serving(local, place)
    lives = note(place, f"{server.pid}:{server.start}", days=20)
    note(place, "4194304:1", days=20)
    young = note(place, "4194305:1", days=3)
    await all_unfinished(local)
    assert written(place) == sorted([lives.name, young.name])
    assert await find_beginning(local, server) == Beginning(7, b"a")


async def test_a_number_that_was_given_away_again_is_not_what_was_launched(local: Placed, place: Place) -> None:
    stranger = await serving(local, place)
    before = f"{stranger.pid}:{stranger.start - 1}"
    note(place, before)
    assert await find_beginning(local, stranger) is None
    (home(place) / "kimi.launched").write_text(f"{before}\n")
    command = LaunchCommand("exec sleep 60", cwd=str(place.folder), env=place.environ, log=str(place.log))
    started = await launch(local, "kimi", command, watch=0)
    assert started.pid != stranger.pid
