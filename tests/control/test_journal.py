"""What is written down of an action on its host: by one, for one, and found by the next."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest
from engineserver import Place
from fakeserver import start_time
from leftopen import unfinished
from placedhost import Placed

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Launcher, Server
from bringup.hosts.control import Unfinished, claim, discard, held, journal, release
from bringup.hosts.control.journal import LEASE, take_over
from bringup.hosts.control.left_open import all_unfinished

GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)


def grow_old(file: Path, seconds: float) -> None:
    if file.name == "claim":
        # Also by the time that the machine is up.
        lines = [f"up -{seconds:.0f}" if line.startswith("up ") else line for line in file.read_text().splitlines()]
        file.write_text("\n".join([*lines, ""]))
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
    assert (left.engine, left.port) == ("sglang", 30000)
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
    counts = re.fullmatch(r"Unless it gives another sign, it counts as cut off in (\d+) s\.", seen.takeover)
    assert counts is not None
    assert int(counts[1]) <= LEASE
    assert replace(seen, step="launching").takeover == "", "a launch goes on by itself"
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


@pytest.mark.parametrize(
    ("respawns", "words"),
    [
        (True, "starts it again: wait for that; what it was launched with is kept on the host."),
        (
            None,
            "may start it again; what it was launched with is kept on the host: launch it once that is settled, or"
            " discard that.",
        ),
    ],
)
async def test_what_may_start_it_again_is_named(local: Placed, place: Place, respawns: bool | None, words: str) -> None:
    launcher = Launcher(above=((os.getpid(), start_time(os.getpid())),), respawns=respawns)
    claimed = await claim(local, replace(GONE, launcher=launcher), "restart", token="ours")
    await journal.step(local, claimed, "waiting")
    (folder,) = place.kept()
    for name in ("environ", "ticket"):
        (folder / name).touch()
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.sentence.endswith(f"no server runs; PID {os.getpid()}, which had started it, still runs and {words}")


async def test_a_folder_without_a_claim_is_removed_after_an_hour(local: Placed, place: Place) -> None:
    """What makes or removes it can be cut off."""
    await left_by(local, "restart", "waiting")
    (folder,) = place.kept()
    (folder / "claim").unlink()
    (folder / "was").touch()
    assert await unfinished(local) is None
    assert place.kept() == [folder]
    grow_old(folder, 3700)
    assert await unfinished(local) is None
    assert place.kept() == []


async def test_who_breaks_off_lets_others_go_on_at_once(local: Placed) -> None:
    claimed = await claim(local, GONE, "restart", token="a", who="ann@laptop")

    async def act() -> None:
        async with held(local, claimed):
            await asyncio.sleep(600)

    work = asyncio.ensure_future(act())
    await asyncio.sleep(0)
    left = await unfinished(local, token="b")
    assert left is not None
    assert left.busy
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    left = await unfinished(local, token="b")
    assert left is not None
    assert (left.busy, left.who) == (False, "ann@laptop")
    taken = await take_over(local, left.claim, "c", "bob@laptop")
    left = await unfinished(local, token="d")
    assert left is not None
    assert (left.busy, left.who) == (True, "bob@laptop")
    await release(local, taken)
    await release(local, await claim(local, GONE, "restart", token="e"))


async def test_what_was_broken_off_can_be_begun_anew(local: Placed) -> None:
    claimed = await claim(local, GONE, "restart", token="a")
    with pytest.raises(asyncio.CancelledError):
        async with held(local, claimed):
            raise asyncio.CancelledError
    await release(local, await claim(local, GONE, "restart", token="b"))
