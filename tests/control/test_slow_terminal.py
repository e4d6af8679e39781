"""A terminal that is slow to begin: what is said to have failed never starts later, beside another launch."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from waiting import eventually

from bringup.hosts.control import LaunchFailed, claim, restart, resume, survey
from bringup.hosts.control.own_command import PLACE

LATER = (
    f'(while [ ! -f "$PLACE/go" ]; do sleep 0.1; done; sh -c {PLACE}; echo over >"$PLACE/late") '
    "</dev/null >/dev/null 2>&1 &"
)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_what_begins_too_late_launches_nothing(local: Placed, place: Place) -> None:
    tmux = ["tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null"]
    place.start(*tmux, "new-session", "-d", "-s", "llm", place.line(), ";", "new-window", "-d", "sleep 600")
    server = await place.see(local, await place.one(), within=None)
    slow = replace(server, launcher=replace(server.launcher, start=LATER))
    claimed = await claim(local, slow, "restart", token="ours")
    with pytest.raises(LaunchFailed, match=r"exit status 1: The terminal began nothing within 10 s"):
        await restart(local, await survey(local, slow), claimed, report=lambda _: None, watch=1)
    left = await unfinished(local, token="ours")
    assert left is not None
    assert "launch" in left.can
    (place.folder / "go").touch()
    await eventually((place.folder / "late").exists)
    assert place.running() == []
    (folder,) = place.kept()
    assert (folder / "ended").read_text() == "1\n", "it changes nothing of what was said"
    started = await resume(local, left, report=lambda _: None, watch=1)
    assert await place.one() == started.pid
