"""A launch tells of each file that the new server writes to where its own lines begin in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.hosts.control import Begin, Pace, Started, claim, restart, survey

pytestmark = pytest.mark.long
OLD = b"what stood there before, longer than the bytes that prove it later: sixty-four of them\n"


async def again(host: Placed, place: Place, how: str) -> tuple[Started, list[Path]]:
    """Start a server with an output for its lines and one for its errors, and launch it again."""
    files = [place.folder / "out 'one'.log", place.folder / "err.log"]
    for file in files:
        file.write_bytes(OLD)
    script = f'exec "$@" {how}"$OUT" 2{how}"$ERR"'
    place.environ |= {"OUT": str(files[0]), "ERR": str(files[1])}
    place.start("/bin/sh", "-c", script, "sh", *place.command())
    server = await place.see(host, await place.one())
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    return await restart(host, plan, claimed, report=lambda _: None, pace=Pace(respawn=0.0), watch=1), files


async def test_files_that_are_appended_to(local: Placed, place: Place) -> None:
    started, (out, err) = await again(local, place, ">>")
    first = OLD + b"a server starts\n"
    assert started.begins == (Begin(str(out), "", len(first), first[-64:]), Begin(str(err), "", len(OLD), OLD[-64:]))


async def test_files_that_are_put_aside(local: Placed, place: Place) -> None:
    started, (out, err) = await again(local, place, ">")
    (aside,) = started.aside
    assert Path(aside).read_bytes() == b"a server starts\n"
    assert started.begins == (Begin(str(out), aside), Begin(str(err)))


async def test_what_is_no_file_begins_nowhere(local: Placed, place: Place) -> None:
    place.start("/bin/sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh", *place.command())
    server = await place.see(local, await place.one())
    claimed = await claim(local, server, "restart", token="ours")
    plan = await survey(local, server)
    started = await restart(local, plan, claimed, report=lambda _: None, pace=Pace(respawn=0.0), watch=1)
    assert started.pid
    assert started.begins == ()
