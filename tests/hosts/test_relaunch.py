"""A server is launched again exactly as it was, and nothing of what it was launched with stays behind."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from fakeserver import start_time
from launchedserver import NASTY, Launched, launched
from waiting import alive

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control import stop, survey
from bringup.hosts.control.relaunch import Launchable, Started, capture, discard, examine, relaunch
from bringup.hosts.local import LocalHost


@pytest.fixture(autouse=True)
def keeping_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where captures are kept by LocalHost; a login over SSH keeps them in /tmp."""
    place = tmp_path / "run"
    place.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    return place


def kept(place: Path) -> list[Path]:
    return list(place.glob("bringup-launch.*"))


@pytest.mark.parametrize("host", ["sftp", "shell", "local"], indirect=True)
async def test_the_same_again(host: Host, tmp_path: Path) -> None:
    with launched(tmp_path, NASTY) as server:
        seen = server.seen()
        first = await server.told(seen.pid)
        launchable = await capture(host, seen)
        folder = Path(launchable.folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if not file.is_symlink()} == {0o600}
        assert (launchable.stdout, launchable.stderr) == (str(server.log), str(server.log))
        assert launchable.cwd == first["cwd"]
        await stop(host, await survey(host, seen), signal="KILL", report=lambda _: None)
        started = await relaunch(host, launchable, watch=1)
        assert not folder.exists()
        await host.close()
        assert alive(started.pid)
        assert started == Started(started.pid, start_time(started.pid))
        again = await server.told(started.pid)
        assert again == first
        assert bytes.fromhex(str(first["argv"])) == b"\0".join([b"python3", b"server.py", *NASTY, b""])
        assert first["mask"] == 0o027
        assert server.log.read_text() == "to the output\nto the errors\n" * 2


async def test_a_start_that_fails_at_once(tmp_path: Path, keeping_place: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        launchable = await capture(host, server.seen())
        (server.folder / "die").touch()
        with pytest.raises(BringupError, match=r"exit status 1: .*no memory for the KV cache / raise --mem-fraction"):
            await relaunch(host, launchable)
        assert kept(keeping_place) == []


async def test_a_directory_that_went_meanwhile(tmp_path: Path, keeping_place: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        launchable = await capture(host, server.seen())
        Path(launchable.cwd).rename(tmp_path / "elsewhere")
        with pytest.raises(BringupError, match=r"exit status 126: .*cd"):
            await relaunch(host, launchable)
        assert kept(keeping_place) == []


async def test_a_log_whose_folder_went_meanwhile(tmp_path: Path, keeping_place: Path) -> None:
    host = LocalHost("box")
    place = tmp_path / "logs"
    place.mkdir()
    with (place / "server.log").open("ab") as log, launched(tmp_path, stdout=log, stderr=log) as server:
        launchable = await capture(host, server.seen())
        place.rename(tmp_path / "elsewhere")
        with pytest.raises(BringupError, match=r"ended at once with exit status 2: .*out"):
            await relaunch(host, launchable)
        assert kept(keeping_place) == []


async def test_two_logs(tmp_path: Path) -> None:
    host = LocalHost("box")
    errors = tmp_path / "errors.log"
    with errors.open("ab") as file, launched(tmp_path, stderr=file) as server:
        started = await relaunch(host, await capture(host, server.seen()), watch=0)
        await server.told(started.pid)
        assert server.log.read_text() == "to the output\n" * 2
        assert errors.read_text() == "to the errors\n" * 2


async def test_a_capture_that_is_not_used(tmp_path: Path, keeping_place: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        left = keeping_place / "bringup-launch.left"
        left.mkdir()
        os.utime(left, (0, 0))
        launchable = await capture(host, server.seen())
        assert [str(folder) for folder in kept(keeping_place)] == [launchable.folder]
        await discard(host, launchable)
        assert kept(keeping_place) == []


async def test_what_is_looked_at_is_not_kept(tmp_path: Path, keeping_place: Path) -> None:
    with launched(tmp_path) as server:
        found = await examine(LocalHost("box"), server.seen())
        assert (found.restartable, found.folder, found.stdout) == ("", "", str(server.log))
        assert kept(keeping_place) == []
    with pytest.raises(BringupError, match="nothing to launch"):
        await relaunch(LocalHost("box"), found)


@pytest.mark.parametrize("folder", ["/", "/tmp", "/tmp/bringup-launch.x/..", ""])
async def test_only_what_was_kept_is_removed(tmp_path: Path, folder: str) -> None:
    class Watched(LocalHost):
        async def run(self, script: str, **_: object) -> object:  # type: ignore[override]
            raise AssertionError(script)

    await discard(Watched(), Launchable(folder=folder))


async def why_not(server: Launched, keeping_place: Path, **more: object) -> str:
    with pytest.raises(BringupError) as refusal:
        await capture(LocalHost("box"), server.seen(**more))
    assert kept(keeping_place) == []
    return str(refusal.value)


async def test_why_a_server_cannot_be_restarted(tmp_path: Path, keeping_place: Path) -> None:
    with launched(tmp_path) as server:
        seen = server.seen()
        assert "has ended" in await why_not(server, keeping_place, start=seen.start - 1)
        assert "replaced its command line" in await why_not(server, keeping_place, argv=("sglang::main of port 1", ""))
        server.log.unlink()
        assert f"its log {server.log} was deleted" in await why_not(server, keeping_place)
        cwd = Path(str((await server.told(seen.pid))["cwd"]))
        (cwd / "server.py").unlink()
        cwd.rmdir()
        assert "is gone" in await why_not(server, keeping_place)


async def test_a_log_through_a_pipe(tmp_path: Path, keeping_place: Path) -> None:
    with subprocess.Popen(["tee", tmp_path / "copy.log"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as tee:
        with launched(tmp_path, stdout=tee.stdin) as server:
            assert f"goes through a pipe to tee (PID {tee.pid})" in await why_not(server, keeping_place)
        assert tee.stdin is not None
        tee.stdin.close()


async def test_a_terminal(tmp_path: Path, keeping_place: Path) -> None:
    ours, theirs = os.openpty()
    with launched(tmp_path, stdout=theirs) as server:
        assert "goes to the terminal /dev/pts/" in await why_not(server, keeping_place)
    os.close(ours)
    os.close(theirs)


async def test_no_log_at_all(tmp_path: Path) -> None:
    with launched(tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        started = await relaunch(LocalHost("box"), await capture(LocalHost("box"), server.seen()), watch=0)
        assert (await server.told(started.pid))["session"] is True


@pytest.mark.skipif(os.getuid() != 0, reason="needs a process of somebody else")
async def test_somebody_elses_server(tmp_path: Path, keeping_place: Path) -> None:
    with subprocess.Popen(["sleep", "60"], user=65534, stdout=subprocess.DEVNULL) as process:
        server = Server(pid=process.pid, start=start_time(process.pid), engine="vllm", argv=("vllm",))
        found = await examine(LocalHost("box"), server)
        process.kill()
    assert found.restartable == "It belongs to nobody: log in as nobody to restart it."
