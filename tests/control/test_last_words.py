"""The last words of a launch that failed in a terminal: they are on its screen only."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.hosts.control import LaunchFailed, Pace, claim, restart, survey

WORDS = r"exit status 1: .*raise --mem-fraction-static"


async def fails_again(host: Placed, place: Place, kind: str) -> None:
    server = await place.see(host, await place.one(), within=None)
    assert server.launcher.kind == kind
    (place.folder / "die").touch()
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    with pytest.raises(LaunchFailed, match=WORDS):
        await restart(host, plan, claimed, report=lambda _: None, pace=Pace(respawn=0.0), watch=60)


@pytest.fixture
def screens(place: Place, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What stands before the command of a session of screen(1)."""
    if shutil.which("screen") is None:
        pytest.skip("screen is not installed")
    folder = place.folder / "screens"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("SCREENDIR", str(folder))
    place.environ["SCREENDIR"] = str(folder)
    return ["screen", "-S", "llm", "-d", "-m"]


def end_screens(place: Place) -> None:
    for socket in (place.folder / "screens").iterdir():
        os.kill(int(socket.name.partition(".")[0]), 9)


@pytest.mark.long
async def test_in_a_window_of_screen(local: Placed, place: Place, screens: list[str]) -> None:
    place.start(*screens, "bash", "--norc", "-c", f"exec {place.line()}")
    try:
        await fails_again(local, place, "screen")
    finally:
        end_screens(place)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_in_screen_that_was_started_in_tmux(local: Placed, place: Place, screens: list[str]) -> None:
    """The variables of tmux are set there, too, and lead to a pane with other words."""
    tmux = ["tmux", "-S", str(place.folder / "socket"), "-f", "/dev/null"]
    inside = f"{' '.join(screens)} bash --norc -c 'exec {place.line()}'; echo the wrong pane; exec sleep 60"
    place.start(*tmux, "new-session", "-d", "-s", "outer", "sh", "-c", inside)
    try:
        await fails_again(local, place, "screen")
    finally:
        end_screens(place)
        subprocess.run([*tmux, "kill-session", "-t", "=outer"], check=True)
