"""A server is launched again exactly as it was, and nothing of what it was launched with stays behind."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from fakeserver import start_time
from launchedserver import NASTY, Launched, launched
from waiting import alive, eventually

from bringup.core.errors import BringupError
from bringup.core.events import LogTarget, Server
from bringup.hosts.base import Host
from bringup.hosts.control import LaunchFailed, Started, claim, release, stop, survey
from bringup.hosts.control.relaunch import Launchable, capture, examine, relaunch
from bringup.hosts.local import LocalHost


@pytest.fixture(autouse=True)
def keeping_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where captures are kept."""
    place = tmp_path / "run"
    place.mkdir()
    monkeypatch.setenv("BRINGUP_PLACES", str(place))
    return place


def kept(place: Path) -> list[Path]:
    return list(place.glob("bringup-*/*-*"))


def secrets(place: Path) -> list[Path]:
    return list(place.rglob("environ"))


async def keep(host: Host, server: Server) -> Launchable:
    return await capture(host, server, await claim(host, server, "restart", token="ours"))


async def launch(host: Host, launchable: Launchable, watch: int = 1) -> Started:
    """Launch it and say that it is over."""
    started = await relaunch(host, launchable, watch=watch)
    assert launchable.claim is not None
    await release(host, launchable.claim)
    return started


@pytest.mark.parametrize("host", ["sftp", "shell", "local"], indirect=True)
async def test_the_same_again(host: Host, tmp_path: Path) -> None:
    with launched(tmp_path, NASTY) as server:
        seen = server.seen()
        first = await server.told(seen.pid)
        launchable = await keep(host, seen)
        assert launchable.claim is not None
        folder = Path(launchable.claim.folder)
        assert {stat.S_IMODE(each.stat().st_mode) for each in (folder, folder.parent)} == {0o700}
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if not file.is_symlink()} == {0o600}
        assert (launchable.stdout, launchable.stderr) == (str(server.log), str(server.log))
        assert launchable.cwd == str(first["cwd"]).replace("\n", " ")
        await stop(host, await survey(host, seen), signal="KILL", report=lambda _: None)
        started = await relaunch(host, launchable, watch=1)
        assert not (folder / "environ").exists()
        assert not (folder / "argv").exists()
        await release(host, launchable.claim)
        assert not folder.exists()
        await host.close()
        assert alive(started.pid)
        assert started.start == start_time(started.pid)
        assert started.unlike == ()
        again = await server.told(started.pid)
        assert again == first
        assert bytes.fromhex(str(first["argv"])) == b"\0".join([b"python3", b"server.py", *NASTY, b""])
        assert first["mask"] == 0o027
        assert server.log.read_text() == "to the output\nto the errors\n"
        assert [Path(path).read_text() for path in started.aside] == ["to the output\nto the errors\n"]


async def test_a_log_that_was_appended_to_goes_on(tmp_path: Path) -> None:
    host = LocalHost("box")
    log = tmp_path / "server.log"
    log.write_text("earlier\n")
    with log.open("ab") as file, launched(tmp_path, stdout=file, stderr=file) as server:
        launchable = await keep(host, server.seen())
        assert "It goes on in" in launchable.log
        server.end()
        started = await launch(host, launchable)
        await server.told(started.pid)
        assert started.aside == ()
        assert log.read_text() == "earlier\n" + "to the output\nto the errors\n" * 2


async def test_what_was_truncated_is_put_aside_each_time(tmp_path: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        launchable = await keep(host, server.seen())
        assert "is put aside" in launchable.log
        server.end()
        second = await launch(host, launchable)
        await server.told(second.pid)
        again = Server(pid=second.pid, start=second.start, engine="sglang", argv=("python3", "server.py"))
        launchable = await keep(host, again)
        os.kill(second.pid, 9)
        await eventually(lambda: not alive(second.pid))
        third = await launch(host, launchable)
        await server.told(third.pid)
        assert len({*second.aside, *third.aside}) == 2
        assert server.log.read_text() == "to the output\nto the errors\n"


async def test_it_is_launched_once(tmp_path: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        launchable = await keep(host, server.seen())
        with pytest.raises(BringupError, match=rf"Nothing was launched on box: PID {server.process.pid} of the old"):
            await relaunch(host, launchable)
        server.end()
        first = await relaunch(host, launchable, watch=0)
        await server.told(first.pid)
        with pytest.raises(BringupError, match=r"is not kept there any more"):
            await relaunch(host, launchable)
        assert len(list(server.folder.glob("*.json"))) == 2


async def test_a_start_that_fails_at_once_can_be_tried_again(tmp_path: Path, keeping_place: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        launchable = await keep(host, server.seen())
        server.end()
        (server.folder / "die").touch()
        with pytest.raises(LaunchFailed, match=r"exit status 1: .*no memory for the KV cache / raise --mem-fraction"):
            await relaunch(host, launchable, watch=60)
        assert {stat.S_IMODE(file.stat().st_mode) for file in secrets(keeping_place)} == {0o600}
        (server.folder / "die").unlink()
        started = await launch(host, launchable)
        assert alive(started.pid)
        assert await server.told(started.pid) == await server.told(server.process.pid)
        assert kept(keeping_place) == []


async def test_another_command(tmp_path: Path) -> None:
    host = LocalHost("box")
    words = ("--mem-fraction-static", "0.8", "it's\n$HOME", "")
    with launched(tmp_path, [b"--mem-fraction-static", b"0.9"]) as server:
        launchable = await keep(host, server.seen())
        server.end()
        started = await relaunch(host, launchable, argv=("python3", "server.py", *words), watch=1)
        told = await server.told(started.pid)
        first = await server.told(server.process.pid)
        assert bytes.fromhex(str(told["argv"])).decode() == "\0".join(["python3", "server.py", *words, ""])
        assert {**told, "argv": ""} == {**first, "argv": ""}


async def test_limits_priority_and_cpus(tmp_path: Path) -> None:
    host = LocalHost("box")
    script = "ulimit -S -n 321; ulimit -S -c 0; exec nice -n 5 python3 server.py"
    with launched(tmp_path, wrap=["/bin/sh", "-c", script]) as server:
        first = Path(f"/proc/{server.process.pid}/limits").read_text()
        assert "Max open files            321 " in first
        kind = os.getpriority(os.PRIO_PROCESS, server.process.pid)
        assert kind == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)
        launchable = await keep(host, server.seen())
        server.end()
        started = await launch(host, launchable)
        assert Path(f"/proc/{started.pid}/limits").read_text() == first
        assert os.getpriority(os.PRIO_PROCESS, started.pid) == kind
        assert started.unlike == ()


async def test_a_directory_that_went_meanwhile(tmp_path: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        launchable = await keep(host, server.seen())
        server.end()
        (tmp_path / "a place\nwith 'odd' name ").rename(tmp_path / "elsewhere")
        with pytest.raises(LaunchFailed, match=r"exit status 126: .*cd"):
            await relaunch(host, launchable, watch=60)


async def test_a_log_whose_folder_went_meanwhile(tmp_path: Path) -> None:
    host = LocalHost("box")
    place = tmp_path / "logs"
    place.mkdir()
    with (place / "server.log").open("ab") as log, launched(tmp_path, stdout=log, stderr=log) as server:
        launchable = await keep(host, server.seen())
        server.end()
        place.rename(tmp_path / "elsewhere")
        with pytest.raises(BringupError, match=r"ended at once|was not launched.*server.log"):
            await relaunch(host, launchable, watch=60)


async def test_two_logs(tmp_path: Path) -> None:
    host = LocalHost("box")
    errors = tmp_path / "errors.log"
    with errors.open("ab") as file, launched(tmp_path, stderr=file) as server:
        launchable = await keep(host, server.seen())
        server.end()
        started = await launch(host, launchable)
        await server.told(started.pid)
        assert server.log.read_text() == "to the output\n"
        assert errors.read_text() == "to the errors\n" * 2


async def test_what_is_looked_at_is_not_kept(tmp_path: Path, keeping_place: Path) -> None:
    with launched(tmp_path) as server:
        found = await examine(LocalHost("box"), server.seen())
        assert (found.restartable, found.claim, found.stdout) == ("", None, str(server.log))
        assert kept(keeping_place) == []
    with pytest.raises(BringupError, match="nothing to launch"):
        await relaunch(LocalHost("box"), found)


async def why_not(server: Launched, keeping_place: Path, **more: object) -> str:
    with pytest.raises(BringupError) as refusal:
        await keep(LocalHost("box"), server.seen(**more))
    assert secrets(keeping_place) == []
    return str(refusal.value)


async def test_why_a_server_cannot_be_restarted(tmp_path: Path, keeping_place: Path) -> None:
    with launched(tmp_path) as server:
        seen = server.seen()
        assert "has ended" in await why_not(server, keeping_place, start=seen.start - 1)
        assert "replaced its command line" in await why_not(server, keeping_place, argv=("sglang::main of port 1", ""))
        cwd = Path(str((await server.told(seen.pid))["cwd"]))
        (cwd / "server.py").unlink()
        cwd.rmdir()
        assert "is gone" in await why_not(server, keeping_place)


async def test_a_log_through_a_pipe(tmp_path: Path, keeping_place: Path) -> None:
    with subprocess.Popen(["tee", tmp_path / "copy.log"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as tee:
        with launched(tmp_path, stdout=tee.stdin) as server:
            assert f"goes through a pipe to tee (PID {tee.pid})" in await why_not(server, keeping_place)
            logs = (LogTarget(str(tmp_path / "copy.log"), "file"),)
            found = await examine(LocalHost("box"), server.seen(logs=logs))
            assert (found.restartable, found.stdout) == ("", str(tmp_path / "copy.log"))
        assert tee.stdin is not None
        tee.stdin.close()


async def test_a_log_that_was_deleted_is_begun_again(tmp_path: Path) -> None:
    host = LocalHost("box")
    with launched(tmp_path) as server:
        server.log.unlink()
        launchable = await keep(host, server.seen())
        assert "was deleted or replaced" in launchable.log
        server.end()
        started = await launch(host, launchable)
        await server.told(started.pid)
        assert server.log.read_text() == "to the output\nto the errors\n"


async def test_a_terminal(tmp_path: Path, keeping_place: Path) -> None:
    ours, theirs = os.openpty()
    with launched(tmp_path, stdout=theirs) as server:
        assert "goes to the terminal /dev/pts/" in await why_not(server, keeping_place)
    os.close(ours)
    os.close(theirs)


async def test_no_log_at_all(tmp_path: Path) -> None:
    with launched(tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        launchable = await keep(LocalHost("box"), server.seen())
        server.end()
        started = await launch(LocalHost("box"), launchable)
        assert (await server.told(started.pid))["session"] is True


@pytest.mark.skipif(os.getuid() != 0, reason="needs a process of somebody else")
async def test_somebody_elses_server(tmp_path: Path, keeping_place: Path) -> None:
    with subprocess.Popen(["sleep", "60"], user=65534, stdout=subprocess.DEVNULL) as process:
        server = Server(pid=process.pid, start=start_time(process.pid), engine="vllm", argv=("vllm",))
        found = await examine(LocalHost("box"), server)
        process.kill()
    assert found.restartable == "It belongs to nobody: log in as nobody to restart it."
