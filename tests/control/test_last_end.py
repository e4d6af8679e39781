"""Who has ended a server is written down for consoles that look only when all of that is over."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from engineserver import Place
from fakeserver import start_time
from leftopen import unfinished
from placedhost import Placed

from bringup.core.events import Server
from bringup.hosts.control import claim, discard, journal, last_end, release

GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)


async def done(host: Placed, server: Server, action: str, step: str = "stopping", *, settles: bool = False) -> None:
    claimed = await claim(host, server, action, token="ours", who="ann@laptop")
    if step:
        await journal.step(host, claimed, step)
    await (journal.settle if settles else release)(host, claimed)


def written(place: Place) -> list[Path]:
    return sorted((place.folder / "run").glob("bringup-*/*.ended"))


@pytest.mark.parametrize(("action", "settles"), [("stop", False), ("restart", False), ("restart", True)])
async def test_it_is_told_after_the_action_is_over(host: Placed, place: Place, action: str, settles: bool) -> None:
    assert await last_end(host, GONE) is None
    await done(host, GONE, action, settles=settles)
    assert place.kept() == []
    told = await last_end(host, GONE)
    assert told is not None
    assert (told.action, told.who) == (action, "ann@laptop")
    assert 0 <= told.began < 60
    assert await last_end(host, replace(GONE, start=8)) is None
    (file,) = written(place)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_one_that_was_cut_off_and_given_up_has_ended_it_as_well(host: Placed) -> None:
    claimed = await claim(host, GONE, "stop", token="ours", who="ann@laptop")
    await journal.step(host, claimed, "killing")
    left = await unfinished(host, token="ours")
    assert left is not None
    await discard(host, left)
    told = await last_end(host, GONE)
    assert told is not None
    assert told.who == "ann@laptop"


async def test_nothing_is_told_where_nothing_was_done_or_the_server_lives(local: Placed, place: Place) -> None:
    await done(local, GONE, "stop", step="")
    await done(local, GONE, "restart", step="claimed")
    await done(local, GONE, "launch")
    lives = replace(GONE, pid=os.getpid(), start=start_time(os.getpid()))
    await done(local, lives, "stop")
    assert written(place) == []
    assert await last_end(local, GONE) is None
    assert await last_end(local, lives) is None


async def test_after_a_reboot_the_same_number_is_another_process(local: Placed, place: Place) -> None:
    await done(local, GONE, "stop")
    (file,) = written(place)
    file.write_text(re.sub("^boot .*", "boot another", file.read_text(), flags=re.MULTILINE))
    assert await last_end(local, GONE) is None


async def test_that_of_the_last_64_is_kept_for_seven_days(local: Placed, place: Place) -> None:
    await done(local, GONE, "stop")
    (file,) = written(place)
    for number in range(100):
        other = file.with_name(f"{number + 1}:9.ended")
        other.write_bytes(file.read_bytes())
        os.utime(other, (file.stat().st_mtime - 10 - number,) * 2)
    await done(local, GONE, "stop")
    assert len(written(place)) == 64
    assert file in written(place)
    os.utime(file, (file.stat().st_mtime - 8 * 86400,) * 2)
    assert await unfinished(local) is None
    assert file not in written(place)
    assert len(written(place)) == 63
