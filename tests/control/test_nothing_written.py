"""Nothing can be written down on the host: a take-over says so, and a stop is done all the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from engineserver import Place
from leftopen import unfinished
from placedhost import Placed

from bringup.core.errors import ChannelRefused
from bringup.core.events import Server
from bringup.hosts.control import Busy, claim, claim_a_stop, held, journal, release, stop, survey
from bringup.hosts.control.journal import Unwritten, take_over
from bringup.hosts.control.steps import Step

GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)
STRANGER = 65533
as_root = pytest.mark.skipif(os.getuid() != 0, reason="needs to be root")


@pytest.fixture
def small(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small file system for all that is kept on the host."""
    folder = place.folder / "small"
    folder.mkdir()
    options = "size=64k,nr_inodes=32"
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("nothing can be mounted here")
    monkeypatch.setenv("BRINGUP_PLACES", str(folder))
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path, files: int) -> None:
    """Leave no room for a byte, or for more than so many files."""
    if files == 0:
        with (folder / "ballast").open("wb", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while file.write(b"x" * size):
                        continue
                except OSError:
                    continue
        return
    made = []
    try:
        while True:
            made.append(folder / f"ballast.{len(made)}")
            made[-1].touch()
    except OSError:
        made.pop()
    for path in made[-files:]:
        path.unlink()


def clear(folder: Path) -> None:
    for path in folder.glob("ballast*"):
        path.unlink()


@as_root
@pytest.mark.parametrize("files", [0, 1], ids=["no room", "no room for a second file"])
async def test_a_take_over_of_which_nothing_can_be_written_down(local: Placed, small: Path, files: int) -> None:
    claimed = await claim(local, GONE, "restart", token="ours", who="ann@laptop")
    fill(small, files)
    for _ in range(2):
        with pytest.raises(Unwritten, match=r"could not be written down on box: .*o space left.*Nothing was done"):
            await take_over(local, claimed, "theirs", "bob@desk")
    clear(small)
    assert [path.name for path in small.glob("bringup-*/.claim.*")] == []
    taken = await take_over(local, claimed, "theirs", "bob@desk")
    with pytest.raises(Busy, match="sees to it already"):
        await take_over(local, claimed, "another")
    await release(local, taken)


async def test_it_is_no_other_console(local: Placed, place: Place) -> None:
    claimed = await claim(local, GONE, "restart", token="ours")
    real = shutil.which("cat")
    full = "echo 'cat: write error: No space left on device' >&2; exit 1"
    cat = place.program("cat", f'case $(readlink /proc/$$/fd/1) in *.claim.*) {full} ;; esac\nexec {real} "$@"\n')
    with pytest.raises(Unwritten, match=r"on box: cat: write error: No space left on device\. "):
        await take_over(local, claimed, "theirs")
    cat.unlink()
    left = await unfinished(local, token="ours")
    assert left is not None
    assert left.claim == claimed
    await take_over(local, claimed, "theirs")


@as_root
async def test_a_claim_in_the_place_of_an_old_one(local: Placed, small: Path, place: Place) -> None:
    """No room for a second file: nobody else acts, and nobody is said to."""
    await claim(local, GONE, "restart", token="ours")
    (claimed,) = small.glob("bringup-*/*-*/claim")
    fill(small, 1)
    os.utime(claimed, (time.time() - journal.LEASE - 5,) * 2)
    with pytest.raises(Unwritten, match="o space left"):
        await claim(local, GONE, "restart", token="theirs")
    clear(small)
    await claim(local, GONE, "restart", token="theirs")


@pytest.mark.parametrize("whose", ["open to others", pytest.param("somebody else's", marks=as_root)])
async def test_a_folder_of_our_name_forbids_no_stop(local: Placed, place: Place, whose: str) -> None:
    """Anybody can make one in /tmp."""
    place.start(*place.command())
    server = await place.see(local, await place.one())
    folder = place.folder / "run" / f"bringup-{os.getuid()}"
    folder.mkdir(mode=0o755)
    if whose != "open to others":
        os.chown(folder, STRANGER, STRANGER)
    owner = folder.owner() if whose == "open to others" else str(STRANGER)
    why = rf"{re.escape(str(folder))} is no folder that only this login can open \(it belongs to {owner}\)"
    with pytest.raises(ChannelRefused, match=rf"{why}\. .*rm -r .*Nothing was done\."):
        await claim(local, server, "restart")
    told: list[Step] = []
    claimed = await claim_a_stop(local, server, told.append)
    assert claimed is None
    (said,) = told
    assert re.fullmatch(
        rf"box has no place where an action can be written down: {why}\. It is stopped all the same, and other consoles"
        r" are not told\.",
        said.text,
    )
    async with held(local, claimed):
        stopped = await stop(local, await survey(local, server), report=told.append, claimed=claimed)
    await release(local, claimed)
    assert stopped.complete
    assert place.running() == []
    assert list(folder.iterdir()) == []
