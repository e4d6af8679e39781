"""Two consoles cannot act on one server, whoever is logged in; and who cannot act on it cannot forbid it either."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from engineserver import Place
from fakeserver import start_time
from leftopen import unfinished
from loggedin import LoggedIn
from placedhost import Placed
from waiting import alive

from bringup.core.errors import ChannelRefused
from bringup.core.events import Server
from bringup.hosts.base import Completed
from bringup.hosts.control import Busy, Pace, Started, claim, examine, journal, release, restart, stop, survey
from bringup.hosts.local import LocalHost

GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)
OWNER, STRANGER = 65534, 65533
as_root = pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs to become somebody else")


class Prefaced(LocalHost):
    """This machine, with something before each script."""

    def __init__(self, before: str) -> None:
        super().__init__("box")
        self._before = before

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        return await super().run(f"{self._before}\n{script}", stdin=stdin, timeout=timeout, limit=limit)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like /tmp, which every user can reach."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o1777)
    monkeypatch.setenv("BRINGUP_PLACES", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def theirs(shared: Path) -> Iterator[Server]:
    """A server that belongs to somebody who is not root."""
    with subprocess.Popen(["sleep", "600"], user=OWNER, group=0, stdout=subprocess.DEVNULL) as process:
        yield Server(pid=process.pid, start=start_time(process.pid), engine="vllm", argv=("vllm",))
        process.kill()


def marks(folder: Path) -> list[Path]:
    return list(folder.glob("bringup-*-*.*"))


async def test_whatever_the_environment_of_the_login(host: Placed, place: Place, tmp_path: Path) -> None:
    logins = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        environ = {
            "TMPDIR": str(tmp_path / name),
            "XDG_RUNTIME_DIR": str(tmp_path / name),
            "HOME": str(tmp_path / name),
        }
        logins.append(Placed(host.inner, environ))
    claimed = await claim(logins[0], GONE, "restart", token="one", who="ann@laptop")
    with pytest.raises(Busy, match=r"A restart of PID 4194303 .* under way by ann@laptop"):
        await claim(logins[1], GONE, "stop", token="two")
    left = await unfinished(logins[1], token="two")
    assert left is not None
    assert left.busy
    await release(logins[0], claimed)
    assert (place.kept(), marks(place.folder / "run")) == ([], [])
    await claim(logins[1], GONE, "stop", token="two")


@as_root
async def test_root_and_the_owner_see_each_other(theirs: Server, shared: Path) -> None:
    root, owner = LocalHost("box"), LoggedIn(OWNER)
    claimed = await claim(root, theirs, "restart", who="ann@laptop")
    with pytest.raises(Busy, match=r"A restart of PID \d+ .* by ann@laptop \(logged in as root\).*Nothing was done"):
        await claim(owner, theirs, "stop", who="bob@desk")
    assert len(marks(shared)) == 1
    await release(root, claimed)
    assert marks(shared) == []
    claimed = await claim(owner, theirs, "stop", who="bob@desk")
    with pytest.raises(Busy, match=r"A stop of PID \d+ .* by bob@desk \(logged in as nobody\)"):
        await claim(root, theirs, "restart")
    await journal.step(owner, claimed, "stopping")
    assert not list(shared.glob(f"bringup-0/{theirs.pid}-*"))
    await release(owner, claimed)
    await release(root, await claim(root, theirs, "restart"))


@as_root
async def test_both_at_the_same_moment_give_way(theirs: Server, shared: Path) -> None:
    mark = shared / f"bringup-{theirs.pid}-{theirs.start}.theirs"
    mine = f"mktemp() {{ echo 'action stop' >{mark}; chown {OWNER} {mark}; command mktemp \"$@\"; }}"
    host = Prefaced(mine)
    with pytest.raises(Busy, match=r"A stop of PID \d+ .*logged in as nobody"):
        await claim(host, theirs, "restart", token="one")
    assert marks(shared) == [mark]
    assert await unfinished(host) is None
    # What an action that was cut off has kept is not lost by that.
    mark.unlink()
    await claim(LocalHost("box"), theirs, "restart", token="one")
    (folder,) = shared.glob("bringup-0/*-*")
    (folder / "was").write_text("kept")
    with pytest.raises(Busy):
        await claim(host, theirs, "restart", token="one", keep=True)
    assert await unfinished(host, token="one") is not None
    assert (folder / "was").read_text() == "kept"
    assert marks(shared) == [mark]


@as_root
async def test_others_give_way_only_while_there_are_signs(theirs: Server, shared: Path) -> None:
    root, owner = LocalHost("box"), LoggedIn(OWNER)
    claimed = await claim(root, theirs, "restart")
    (mark,) = marks(shared)
    os.utime(mark, (time.time() - journal.LEASE - 5,) * 2)
    await journal.step(root, claimed, "stopping")
    with pytest.raises(Busy):
        await claim(owner, theirs, "stop")
    os.utime(mark, (time.time() - journal.LEASE - 5,) * 2)
    await claim(owner, theirs, "stop")


@as_root
async def test_a_stop_by_root_and_a_restart_by_the_owner_at_once(shared: Path) -> None:
    """One of them acts, or neither: what is said is what came of it, and there are never two servers."""
    # Nobody else's here, nor another run's.
    words = ["/bin/sleep", f"600.{os.getpid()}"]
    made = subprocess.Popen(
        words, user=OWNER, group=OWNER, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"A": "b"}
    )
    server = Server(pid=made.pid, start=start_time(made.pid), engine="vllm", argv=tuple(words))
    root, owner = LocalHost("box"), LoggedIn(OWNER)

    async def end() -> None:
        claimed = await claim(root, server, "stop")
        assert (await stop(root, await survey(root, server), report=lambda _: None, claimed=claimed)).complete
        await release(root, claimed)

    async def again() -> Started:
        claimed = await claim(owner, server, "restart")
        plan = await survey(owner, server)
        return await restart(owner, plan, claimed, report=lambda _: None, watch=0, pace=Pace(respawn=0.0))

    collector = asyncio.get_running_loop().run_in_executor(None, made.wait)
    came = await asyncio.gather(end(), again(), return_exceptions=True)
    running = [pid for pid in pids_of(words) if alive(pid)]
    try:
        stopped, started = not isinstance(came[0], BaseException), came[1]
        assert all(isinstance(each, Busy) for each in came if isinstance(each, BaseException)), came
        if isinstance(started, Started):
            assert (stopped, running) == (False, [started.pid])
        else:
            assert running == ([] if stopped else [made.pid])
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
        await collector
    assert marks(shared) == []


@as_root
async def test_what_may_not_be_looked_at_is_in_no_container(theirs: Server) -> None:
    """The user is the same, the group is not: ptrace(2) does not allow to look at it."""
    found = await examine(LoggedIn(OWNER), theirs)
    assert found.restartable == "Its environment cannot be read."


def pids_of(words: list[str]) -> list[int]:
    """PIDs of the processes with a command line."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if file.read_bytes().split(b"\0")[:-1] == [os.fsencode(word) for word in words]:
                found.append(int(file.parent.name))
    return found


@as_root
async def test_a_stranger_forbids_nothing(theirs: Server, shared: Path) -> None:
    stranger, owner = LoggedIn(STRANGER), LoggedIn(OWNER)
    await claim(stranger, theirs, "stop", who="mallory")
    name = f"bringup-{theirs.pid}-{theirs.start}"
    target = shared / "of root"
    target.write_text("action stop\n")
    before = target.stat().st_mtime_ns
    (shared / f"{name}.link").symlink_to(target)
    os.mkfifo(shared / f"{name}.pipe")
    (shared / f"{name}.odd\n-rw-r--r-- 1 0 0").write_text("action stop\nuser root\n")
    for odd in shared.glob(f"{name}.[lop]*"):
        os.chown(odd, STRANGER, STRANGER, follow_symlinks=False)
    claimed = await claim(owner, theirs, "stop")
    await journal.step(owner, claimed, "stopping")
    await release(owner, claimed)
    assert (target.read_text(), target.stat().st_mtime_ns) == ("action stop\n", before)


@as_root
async def test_whose_folder_stands_in_the_way(theirs: Server, shared: Path) -> None:
    mine = shared / f"bringup-{OWNER}"
    mine.mkdir(0o700)
    os.chown(mine, STRANGER, STRANGER)
    with pytest.raises(
        ChannelRefused, match=rf"bringup-{OWNER} is no folder that only .*belongs to {STRANGER}\).*rm -r"
    ):
        await claim(LoggedIn(OWNER), theirs, "stop")
    assert await unfinished(LoggedIn(OWNER)) is None
    assert list(mine.iterdir()) == []


async def test_a_claimant_that_is_gone(local: Placed, place: Place) -> None:
    await claim(local, GONE, "stop", token="one")
    (folder,) = place.kept()
    with pytest.raises(Busy):
        await claim(local, GONE, "stop", token="two")
    os.utime(folder / "claim", (time.time() - journal.LEASE - 5,) * 2)
    second = await claim(local, GONE, "stop", token="two")
    assert len(marks(place.folder / "run")) == 1
    # A clock that was set back makes no claim last for ever.
    os.utime(folder / "claim", (time.time() + 4_000,) * 2)
    third = await claim(local, GONE, "stop", token="three")
    with pytest.raises(Busy, match="taken over"):
        await journal.step(local, second, "stopping")
    await release(local, second)
    assert place.kept() == [folder]
    await release(local, third)
    assert (place.kept(), marks(place.folder / "run")) == ([], [])
