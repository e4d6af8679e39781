"""A launcher's start command that is at work is waited for, and what it ended with is its own."""

from __future__ import annotations

import asyncio

from engineserver import Place
from placedhost import Placed
from waiting import eventually

from bringup.hosts.control.own_command import run_start


async def test_how_an_earlier_one_ended_is_not_told_of_one_that_was_killed(local: Placed, place: Place) -> None:
    folder = place.folder / "action"
    folder.mkdir(mode=0o700)
    assert await run_start(local, str(folder), "true") is None
    command = f"touch {folder}/begun; while [ ! -f {folder}/go ]; do sleep 0.05; done; kill -KILL $PPID"
    first = asyncio.ensure_future(run_start(local, str(folder), command))
    await eventually((folder / "begun").exists)
    second = asyncio.ensure_future(run_start(local, str(folder), command))
    (folder / "go").touch()
    killed, waited = await first, await second
    assert killed is not None
    assert waited is not None
