"""What a server was launched with lies in memory, for no longer than it is needed."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed
from recordedtools import never_told, record_tools
from waiting import eventually

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Server
from bringup.hosts.control import (
    LaunchCommand,
    Pace,
    claim,
    discard,
    launch,
    release,
    restart,
    restarting,
    resume,
    survey,
)
from bringup.hosts.control.relaunch import capture

SECRET = "hf_very_secret_word"
SECRETS = {"environ", "argv", "was"}
GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if not path.is_dir()}


def grow_old(file: Path, seconds: float) -> None:
    if file.name == "claim":
        # Also by the time that the machine is up.
        lines = [f"up -{seconds:.0f}" if line.startswith("up ") else line for line in file.read_text().splitlines()]
        file.write_text("\n".join([*lines, ""]))
    os.utime(file, (time.time() - seconds,) * 2)


def keepers(folder: Path) -> list[str]:
    """Processes that wait for the time at which what lies in a folder is to be removed."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"keeper" in words and any(word.startswith(bytes(folder)) for word in words):
            found.append(file.parent.name)
    return found


async def seen(place: Place, host: Placed) -> Server:
    place.start(*place.command())
    return await place.see(host, await place.one())


async def test_it_lies_in_memory_and_goes_with_the_action(host: Placed, place: Place, memory: Path) -> None:
    server = await seen(place, host)
    claimed = await claim(host, server, "restart", token="ours")
    await capture(host, server, claimed)
    assert names(memory) == SECRETS
    assert not SECRETS & names(place.folder / "run")
    made = list(memory.rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700, 0o600}
    await eventually(lambda: bool(keepers(memory)))
    left = await unfinished(host, token="ours")
    assert left is not None
    await discard(host, left)
    assert (names(memory), place.kept()) == (set(), [])
    await eventually(lambda: not keepers(memory), 60)


async def test_a_restart_leaves_nothing(local: Placed, place: Place, memory: Path) -> None:
    place.environ["HF_TOKEN"] = SECRET
    server = await seen(place, local)
    calls = record_tools(place.folder / "bin")
    while_launching: list[set[str]] = []
    claimed = await claim(local, server, "restart", token="ours")
    plan = await survey(local, server)
    started = await restart(
        local,
        plan,
        claimed,
        report=lambda step: while_launching.append(names(memory)) if step.name == "stopping" else None,
        pace=Pace(drain=20.0, respawn=0.0),
        regardless=True,
        watch=0,
    )
    assert SECRETS in while_launching
    assert await place.one() == started.pid
    assert f"HF_TOKEN={SECRET}".encode() in Path(f"/proc/{started.pid}/environ").read_bytes().split(b"\0")
    assert (names(memory), place.kept()) == (set(), [])
    never_told(calls, [SECRET.encode()])


async def test_a_stop_that_was_refused_leaves_nothing(
    local: Placed, place: Place, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        assert names(memory) == SECRETS
        raise ChannelRefused("It may not be signalled.", reason="denied")

    server = await seen(place, local)
    claimed = await claim(local, server, "restart", token="ours")
    plan = await survey(local, server)
    monkeypatch.setattr(restarting, "stop", refuse)
    with pytest.raises(ChannelRefused):
        await restart(local, plan, claimed, report=lambda _: None, signal="TERM")
    assert (names(memory), place.kept()) == (set(), [])
    assert place.running() == [server.pid]


async def fail(host: Placed, place: Place) -> None:
    """Restart a server that dies at once."""
    server = await seen(place, host)
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    (place.folder / "die").touch()
    pace = Pace(drain=20.0, respawn=0.0)
    with pytest.raises(BringupError, match="exit status 1"):
        await restart(host, plan, claimed, report=lambda _: None, pace=pace, regardless=True, watch=60)


async def test_a_launch_that_fails_can_be_tried_again(local: Placed, place: Place, memory: Path) -> None:
    await fail(local, place)
    assert names(memory) == SECRETS
    await eventually(lambda: bool(keepers(memory)))
    (place.folder / "die").unlink()
    left = await unfinished(local, token="ours")
    assert left is not None
    started = await resume(local, left, report=lambda _: None, watch=0)
    assert await place.one() == started.pid
    assert (names(memory), place.kept()) == (set(), [])


async def test_one_waits_for_an_action_however_often_it_fails(local: Placed, place: Place, memory: Path) -> None:
    await fail(local, place)
    for _ in range(2):
        left = await unfinished(local, token="ours")
        assert left is not None
        with pytest.raises(BringupError, match="exit status 1"):
            await resume(local, left, report=lambda _: None, watch=60)
    await eventually(lambda: len(keepers(memory)) == 1, 60)
    (folder,) = place.kept()
    environ = next(memory.rglob("environ"))
    assert environ.exists()
    # Whatever removes the folder of an action, by hand too, ends it as well.
    shutil.rmtree(folder)
    await eventually(lambda: not keepers(memory), 60)
    assert environ.exists(), "the next look removes what belongs to no action"


async def test_a_configured_launch_leaves_nothing(host: Placed, place: Place, memory: Path) -> None:
    env = {**place.environ, "HF_TOKEN": SECRET}
    calls = record_tools(place.folder / "bin")
    started = await launch(host, "kimi", LaunchCommand(f"exec {place.line()}", str(place.folder), env), watch=0)
    assert await place.one() == started.pid
    assert (names(memory), place.kept()) == (set(), [])
    never_told(calls, [SECRET.encode()])
    assert not any(SECRET in script for script in host.scripts)


@pytest.mark.parametrize("trouble", ["somebody else's", "full", "on a disk"])
async def test_where_memory_cannot_take_it(
    local: Placed, place: Place, memory: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await seen(place, local)
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    if trouble == "somebody else's":
        (memory / f"bringup-{os.getuid()}").symlink_to(elsewhere)
    elif trouble == "full":
        real = shutil.which("cat")
        place.program("cat", f'case $(readlink /proc/$$/fd/1) in {memory}/*) exit 1 ;; esac\nexec {real} "$@"\n')
    elif subprocess.check_output(["stat", "-f", "-c", "%T", elsewhere]) == b"tmpfs\n":
        pytest.skip("/tmp is in memory here")
    else:
        monkeypatch.setenv("BRINGUP_PLACES", f"{place.folder / 'run'}:{elsewhere}")
    claimed = await claim(local, server, "restart", token="ours")
    kept = await capture(local, server, claimed)
    assert names(place.folder / "run") >= SECRETS
    assert (names(elsewhere), names(memory) & SECRETS) == (set(), set())
    left = await unfinished(local, token="ours")
    assert left is not None
    assert (left.kept, kept.restartable) == (True, "")
    await release(local, claimed)
    assert not SECRETS & names(place.folder / "run")


async def test_after_an_hour_without_anybody_who_looks(local: Placed, place: Place, memory: Path) -> None:
    server = await seen(place, local)
    claimed = await claim(local, server, "restart", token="ours")
    await capture(local, server, claimed)
    (folder,) = place.kept()
    environ = next(memory.rglob("environ"))
    grow_old(environ, 3700)
    grow_old(folder / "claim", 3700)
    await eventually(lambda: not environ.exists(), 60)
    await eventually(lambda: not keepers(memory), 60)
    assert names(memory) == {"was"}


async def test_after_seven_days(local: Placed, place: Place, memory: Path) -> None:
    server = await seen(place, local)
    await capture(local, server, await claim(local, server, "restart", token="ours"))
    (folder,) = place.kept()
    grow_old(folder / "claim", 6.5 * 86400)
    assert await unfinished(local, token="ours") is not None
    grow_old(folder / "claim", 7.1 * 86400)
    assert await unfinished(local, token="ours") is None
    assert (names(memory), place.kept(), list((place.folder / "run").glob("*.*"))) == (set(), [], [])


async def test_what_belongs_to_no_action(local: Placed, place: Place, memory: Path) -> None:
    server = await seen(place, local)
    await capture(local, server, await claim(local, server, "restart", token="ours"))
    (folder,) = place.kept()
    (mark,) = (place.folder / "run").glob("bringup-*.*")
    shutil.rmtree(folder)
    grow_old(mark, 2.1 * 86400)
    await claim(local, GONE, "stop", token="ours")
    assert names(memory) == set()
    assert not mark.exists()


async def test_what_is_left_of_before_the_machine_was_started_anew(host: Placed, place: Place) -> None:
    server = await seen(place, host)
    await capture(host, server, await claim(host, server, "restart", token="ours"))
    (folder,) = place.kept()
    told = [re.sub(r"^up \d+$", "up 99999999999", line) for line in (folder / "claim").read_text().splitlines()]
    (folder / "claim").write_text("\n".join([*told, ""]))
    for name in (*SECRETS, "claim"):
        os.utime(folder / name, (time.time() - 3700,) * 2)
    assert await unfinished(host, token="ours") is not None
    assert not {"environ", "argv"} & names(folder)
