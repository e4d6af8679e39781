"""The host itself stands in the way of a restart: no room, read-only, another time; it is said, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cutting import KINDS, only, see, servers, settled, silent
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed

from bringup.core.errors import BringupError, ChannelRefused
from bringup.core.events import Server
from bringup.hosts.base import Completed, Host
from bringup.hosts.control import (
    Busy,
    Pace,
    Started,
    Step,
    Stopped,
    claim,
    claim_a_stop,
    held,
    release,
    restart,
    stop,
    survey,
)
from bringup.hosts.local import LocalHost

as_root = pytest.mark.skipif(os.getuid() != 0, reason="needs to mount a file system")
Trouble = Callable[[Path], None]


async def run(host: Host, server: Server, report: Callable[[Step], None] = silent) -> Started:
    claimed = await claim(host, server, "restart", token="ours")
    plan = await survey(host, server)
    return await restart(host, plan, claimed, report=report, pace=Pace(drain=20.0), watch=0)


@pytest.fixture
def mounted(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small file system for all that is kept on the host, on which nothing can be executed."""
    folder = place.folder / "small"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k,noexec", "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("nothing can be mounted here")
    monkeypatch.setenv("BRINGUP_PLACES", str(folder))
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> None:
    with (folder / "ballast").open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while file.write(b"x" * size):
                    continue
            except OSError:
                continue


def lock(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


def mend(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
    (folder / "ballast").unlink(missing_ok=True)


troubles = pytest.mark.parametrize("trouble", [fill, lock])


@as_root
@troubles
async def test_before_anything_was_done(local: Placed, place: Place, mounted: Path, trouble: Trouble) -> None:
    server = await see(KINDS["plain"], place, local)
    trouble(mounted)
    with pytest.raises(ChannelRefused, match=r"no place where an action can be written down: .*Nothing was done"):
        await run(local, server)
    assert servers(place) == [server.pid]
    mend(mounted)
    assert await unfinished(local, token="ours") is None
    started = await run(local, server)
    assert await only(place) == started.pid


@as_root
@troubles
@pytest.mark.parametrize("moment", ["claimed", "stopping", "launching"])
async def test_in_the_middle(local: Placed, place: Place, mounted: Path, trouble: Trouble, moment: str) -> None:
    server = await see(KINDS["plain"], place, local)

    def report(step: Step) -> None:
        if step.name == moment and not (mounted / "ballast").exists():
            trouble(mounted)

    with pytest.raises(BringupError) as raised:
        await run(local, server, report)
    said = str(raised.value)
    assert "Another console" not in said
    assert ("o space left" in said) or ("ead-only" in said) or "Is there room" in said or "is there room" in said, said
    mend(mounted)
    what = await settled(local, place)
    if moment == "claimed":
        assert servers(place) == [server.pid]
    else:
        assert "no server runs; what it was launched with is kept on the host" in what
    assert len(servers(place)) == 1


async def stop_of(host: Host, server: Server, report: Callable[[Step], None]) -> Stopped:
    claimed = await claim_a_stop(host, server, report, token="ours")
    async with held(host, claimed):
        plan = await survey(host, server)
        stopped = await stop(host, plan, report=report, pace=Pace(drain=20.0), claimed=claimed)
    await release(host, claimed)
    return stopped


@as_root
@troubles
async def test_a_stop_that_cannot_be_written_down(local: Placed, place: Place, mounted: Path, trouble: Trouble) -> None:
    server = await see(KINDS["plain"], place, local)
    trouble(mounted)
    said: list[str] = []
    stopped = await stop_of(local, server, lambda step: said.append(step.text))
    assert stopped.complete
    assert "o space left" in said[0] or "ead-only" in said[0], said
    assert said[0].endswith("It is stopped all the same, and other consoles are not told.")
    assert servers(place) == []
    mend(mounted)
    assert await unfinished(local, token="ours") is None


@as_root
@troubles
async def test_a_stop_goes_on_where_there_is_no_room_meanwhile(
    local: Placed, place: Place, mounted: Path, trouble: Trouble
) -> None:
    server = await see(KINDS["plain"], place, local)
    said: list[str] = []

    def report(step: Step) -> None:
        said.append(step.text)
        if not (mounted / "ballast").exists() and len(said) == 1:
            trouble(mounted)

    assert (await stop_of(local, server, report)).complete
    assert any("could not be written down" in text and text.endswith("It goes on all the same.") for text in said)
    assert servers(place) == []


@as_root
@troubles
async def test_what_is_under_way_counts_where_there_is_no_room(
    local: Placed, place: Place, mounted: Path, trouble: Trouble
) -> None:
    server = await see(KINDS["plain"], place, local)
    await claim(local, server, "restart", token="theirs", who="ann@laptop")
    trouble(mounted)
    with pytest.raises(Busy, match=r"A restart of PID \d+ on box is under way by ann@laptop"):
        await claim_a_stop(local, server, silent, token="ours")
    assert servers(place) == [server.pid]


async def test_where_memory_has_no_file_system(local: Placed, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRINGUP_PLACES", f"{place.folder / 'run'}:{place.folder / 'nowhere'}")
    server = await see(KINDS["plain"], place, local)
    started = await run(local, server)
    assert await only(place) == started.pid
    assert (place.kept(), place.secrets()) == ([], [])


class Jumping(Placed):
    """A host whose clock is set by some seconds before each script, and that another console looks at then."""

    def __init__(self, host: Host, place: Place, seconds: float) -> None:
        super().__init__(host, place.environ)
        self._place = place
        self._seconds = seconds

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        for path in (self._place.folder / "run").rglob("*"):
            os.utime(path, (time.time() - self._seconds,) * 2, follow_symlinks=False)
        await unfinished(Placed(self.inner, self._place.environ), token="theirs")
        return await super().run(script, stdin=stdin, timeout=timeout, limit=limit)


@pytest.mark.parametrize("seconds", [7_200.0, 30 * 86_400.0, -86_400.0], ids=["hours", "a month", "back"])
async def test_a_clock_that_is_set(place: Place, seconds: float) -> None:
    """Nothing that the restart needs is taken for what nobody came for."""
    host = Jumping(LocalHost("box"), place, seconds)
    server = await see(KINDS["plain"], place, Placed(LocalHost("box"), place.environ))
    started = await run(host, server)
    assert await only(place) == started.pid
    assert (place.kept(), place.secrets()) == ([], [])
