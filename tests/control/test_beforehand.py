"""What the host shows before a restart: where the launch cannot succeed, a good server is not stopped for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from engineserver import Place
from placedhost import Placed

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.hosts.control import (
    LaunchCommand,
    LaunchFailed,
    Pace,
    Started,
    Step,
    claim,
    examine,
    launch,
    restart,
    survey,
)

FULL = """case $*" $PLACE" in
    *%S*%f*) [ ! -f "$PLACE/full" ] || { echo 4096 1000 3 0 1000 900; exit; } ;;
esac
exec {} "$@"
"""
"""A stat that tells of a file system with 3 free blocks, none of them for any user but root."""


async def again(host: Placed, server: Server, trouble: Path | None = None) -> Started:
    """Restart a server; there is trouble all at once when it is launched, and it ends then."""

    def report(step: Step) -> None:
        if trouble is not None and step.name == "launching":
            trouble.touch()

    claimed = await claim(host, server, "restart", token="ours")
    return await restart(
        host, await survey(host, server), claimed, report=report, pace=Pace(), watch=60 if trouble else 0
    )


async def refused(host: Placed, place: Place, server: Server, why: str) -> None:
    """The dialog says it beforehand, and a restart does nothing."""
    found = await examine(host, server)
    assert why in found.restartable
    with pytest.raises(BringupError, match=r"The server cannot be restarted: .*Nothing was done"):
        await again(host, server)
    assert place.running() == [server.pid]
    assert (place.kept(), place.secrets()) == ([], [])


@pytest.mark.long
async def test_a_program_that_was_removed(host: Placed, place: Place) -> None:
    program = place.folder / "venv-python"
    program.symlink_to(sys.executable)
    place.start(str(program), *place.command()[1:])
    server = await place.see(host, await place.one())
    program.unlink()
    await refused(host, place, server, f"Its program {program} is not there")
    program.symlink_to(sys.executable)
    assert (await again(host, server)).pid == await place.one()


@pytest.mark.long
async def test_a_name_that_is_no_program(local: Placed, place: Place) -> None:
    place.start("bash", "-c", f"exec -a sglang_prod {place.line()}")
    server = await place.see(local, await place.one())
    await refused(local, place, server, "Its program sglang_prod is not there")
    # In the PATH of the server it is one.
    (place.folder / "bin" / "sglang_prod").symlink_to(sys.executable)
    assert (await again(local, server)).pid == await place.one()


@pytest.mark.long
async def test_a_folder_of_the_log_that_was_removed(host: Placed, place: Place) -> None:
    place.log = place.folder / "logs" / "server.log"
    place.log.parent.mkdir()
    place.start(*place.command())
    server = await place.see(host, await place.one())
    shutil.rmtree(place.log.parent)
    await refused(host, place, server, f"The folder of its log {place.log} is gone")
    place.log.parent.mkdir()
    assert (await again(host, server)).pid == await place.one()


@pytest.mark.long
async def test_a_full_file_system_of_the_log(local: Placed, place: Place) -> None:
    place.program("stat", FULL.replace("{}", str(shutil.which("stat"))))
    place.start(*place.command())
    server = await place.see(local, await place.one())
    (place.folder / "full").touch()
    await refused(local, place, server, f"The file system of its log {place.log} is full")
    with pytest.raises(BringupError, match=r"file system of its log .*own\.log is full"):
        await launch(local, "kimi", LaunchCommand("true", str(place.folder), log="own.log"))
    (place.folder / "full").unlink()
    (place.folder / "die").touch()
    with pytest.raises(LaunchFailed, match=r"exit status 1: .*The file system of its log is full\."):
        await again(local, server, place.folder / "full")


@pytest.mark.long
@pytest.mark.skipif(os.getuid() != 0, reason="needs to mount a file system")
async def test_a_file_system_that_is_really_full(local: Placed, place: Place) -> None:
    folder = place.folder / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        place.log = folder / "server.log"
        place.start(*place.command())
        server = await place.see(local, await place.one())
        assert (await examine(local, server)).restartable == ""
        (folder / "ballast").write_bytes(b"x" * (480 << 10))
        await refused(local, place, server, f"The file system of its log {place.log} is full")
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("flag", "words"), [("-n", "a network namespace"), ("-u", "a UTS namespace"), ("-i", "an IPC")]
)
async def test_namespaces_of_its_own(local: Placed, place: Place, flag: str, words: str) -> None:
    """A port that only they could reach would be open to everybody."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", flag, "true"], check=False).returncode != 0:
        pytest.skip("no namespace can be made here")
    place.start("unshare", flag, *place.command())
    server = await place.see(local, await place.one())
    await refused(local, place, server, f"It runs in {words}")


def io_priority(pid: int) -> str:
    return subprocess.run(["ionice", "-p", str(pid)], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.long
@pytest.mark.skipif(not (shutil.which("chrt") and shutil.which("ionice")), reason="needs chrt and ionice")
async def test_how_it_is_scheduled_is_repeated_or_told(local: Placed, place: Place) -> None:
    place.start("nice", "-n", "5", "chrt", "-b", "0", "ionice", "-c", "2", "-n", "7", *place.command())
    server = await place.see(local, await place.one())
    started = await again(local, server)
    assert started.unlike == ()
    assert os.sched_getscheduler(started.pid) == os.SCHED_BATCH
    assert io_priority(started.pid) == "best-effort: prio 7"
    server = await place.see(local, started.pid, within=None)
    place.program("chrt", "exit 1\n")
    place.program("ionice", f'case $1 in -c) exit 1 ;; esac\nexec {shutil.which("ionice")} "$@"\n')
    started = await again(local, server)
    assert started.unlike == (
        "scheduling class that was batch",
        "I/O priority that was best-effort: prio 7",
    )


BOUND = """
import ctypes, os, platform, sys
call = {"x86_64": 238, "aarch64": 237}.get(platform.machine(), -1)
failed = ctypes.CDLL(None).syscall(call, 2, ctypes.byref(ctypes.c_ulong(1)), 64)
os.execv(sys.argv[1], sys.argv[1:]) if not failed else sys.exit(3)
"""
"""Binds its memory to the first node (set_mempolicy(2)) and goes on as another program."""


@pytest.mark.long
async def test_a_memory_policy_is_told(local: Placed, place: Place) -> None:
    if subprocess.run([sys.executable, "-c", BOUND, shutil.which("true") or ""], check=False).returncode != 0:
        pytest.skip("no memory can be bound here")
    place.start(sys.executable, "-c", BOUND, *place.command())
    server = await place.see(local, await place.one())
    assert (await again(local, server)).unlike == ("memory policy that was bind:0",)


@pytest.mark.long
async def test_a_login_without_a_home(local: Placed, place: Place) -> None:
    """It is the one of its user that counts, as the dialog says."""
    home = place.folder / "home"
    home.mkdir()
    place.program("getent", f"echo somebody:x:0:0::{home}:/bin/sh\n")
    command = LaunchCommand(f"pwd; exec {place.line()}", env=place.environ)
    host = Placed(local, {"HOME": "", "XDG_STATE_HOME": "", **place.environ})
    started = await launch(host, "kimi", command, watch=0)
    assert await place.one() == started.pid
    assert Path(started.log).parent == home / ".local" / "state" / "bringup"
    assert Path(started.log).read_text().splitlines()[0] == str(home)
