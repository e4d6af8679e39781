"""What is written down of an action on its host: by one, for one, and found by the next."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Server
from bringup.hosts.control import Unfinished, claim, discard, journal, unfinished
from bringup.hosts.control.unfinished import all_unfinished

GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)


def grow_old(file: Path, seconds: float) -> None:
    os.utime(file, (time.time() - seconds,) * 2)


async def left_by(host: Placed, action: str, step: str = "") -> Unfinished:
    claimed = await claim(host, GONE, action, token="ours", who="ann@laptop")
    if step:
        await journal.step(host, claimed, step)
    left = await unfinished(host, token="ours")
    assert left is not None
    return left


async def test_nothing_is_left_where_nothing_was_done(host: Placed) -> None:
    assert await unfinished(host) is None


async def test_what_is_written_down(host: Placed, place: Place) -> None:
    left = await left_by(host, "stop", "waiting")
    assert (left.action, left.step, left.server, left.who) == ("stop", "waiting", (4_194_303, 7), "ann@laptop")
    assert left.can == ("discard",)
    assert left.sentence.startswith("A stop of the sglang server on port 30000 (PID 4194303) was cut off")
    assert left.sentence.endswith("while its GPU memory and its port were waited for; the old server has ended.")
    (folder,) = place.kept()
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    await discard(host, left)
    assert place.kept() == []
    await discard(host, left)


async def test_another_console_sees_it_under_way_and_then_cut_off(host: Placed, place: Place) -> None:
    await left_by(host, "restart", "stopping")
    seen = await unfinished(host, token="theirs")
    assert seen is not None
    assert (seen.busy, seen.can) == (True, ())
    assert seen.sentence.endswith("is under way by ann@laptop: it is asked to end.")
    with pytest.raises(BringupError, match=r"under way.*Nothing was done"):
        await discard(host, seen)
    (folder,) = place.kept()
    grow_old(folder / "claim", 120)
    seen = await unfinished(host, token="theirs")
    assert seen is not None
    assert (seen.busy, seen.can) == (False, ("discard",))
    assert "no server runs; what it was launched with is not kept any more" in seen.sentence


async def test_a_machine_that_was_started_anew(host: Placed, place: Place) -> None:
    await left_by(host, "restart", "waiting")
    (folder,) = place.kept()
    text = (folder / "claim").read_text()
    (folder / "claim").write_text(
        "\n".join(f"boot x{line}" if line.startswith("boot ") else line for line in text.split("\n"))
    )
    (folder / "members").write_text(f"{os.getpid()}:1\n")
    left = await unfinished(host, token="ours")
    assert left is not None
    assert (left.rebooted, left.alive) == (True, ())
    assert "the machine was started anew since" in left.sentence


async def test_a_folder_of_somebody_else_is_not_used(local: Placed, place: Place) -> None:
    mine = place.folder / "run" / f"bringup-{os.getuid()}"
    mine.mkdir(mode=0o755)
    with pytest.raises(ChannelRefused, match="no place where an action can be written down"):
        await claim(local, GONE, "stop")
    mine.rmdir()
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    mine.symlink_to(elsewhere)
    with pytest.raises(ChannelRefused):
        await claim(local, GONE, "stop")
    assert list(elsewhere.iterdir()) == []


async def test_an_environment_that_nobody_comes_for_is_removed(local: Placed, place: Place) -> None:
    await left_by(local, "restart", "waiting")
    (folder,) = place.kept()
    for name in ("environ", "ticket"):
        (folder / name).touch()
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.can == ("launch", "discard")
    grow_old(folder / "environ", 3700)
    assert await unfinished(local) is not None
    # An action that goes on for so long still needs it.
    assert (folder / "environ").exists()
    grow_old(folder / "claim", 3600)
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.can == ("discard",)
    assert not (folder / "environ").exists()


async def test_what_others_wrote_is_data_only(local: Placed, place: Place) -> None:
    await left_by(local, "stop")
    (folder,) = place.kept()
    (folder / "step").write_text("waiting\nalive 1:1\n$(touch pwned)\x1b[2J")
    (folder / "members").write_text("$(touch pwned) ; 1:1 -9:0\n")
    left = await unfinished(local, token="ours")
    assert left is not None
    assert "\x1b" not in left.sentence
    assert not list(place.folder.rglob("pwned"))


async def test_two_servers_are_two_actions(local: Placed) -> None:
    await claim(local, GONE, "stop", token="a")
    await claim(local, Server(pid=4_194_302, start=9, engine="vllm", argv=()), "restart", token="b")
    assert {each.action for each in await all_unfinished(local)} == {"stop", "restart"}
