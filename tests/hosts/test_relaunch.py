"""A server is launched again exactly as it was, and nothing of what it was launched with stays behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fakeserver import read_pid, start_time
from waiting import alive, eventually

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.hosts.base import Host
from bringup.hosts.control import stop, survey
from bringup.hosts.local import LocalHost
from bringup.hosts.relaunch import Launchable, Started, capture, discard, examine, relaunch

PROGRAM = """
import json, os, signal, sys, time
from pathlib import Path
print("to the output", flush=True)
print("to the errors", file=sys.stderr, flush=True)
mask = os.umask(0)
os.umask(mask)
facts = {
    "argv": Path("/proc/self/cmdline").read_bytes().hex(),
    "environ": sorted(word.hex() for word in Path("/proc/self/environ").read_bytes().split(b"\\0")),
    "cwd": os.getcwd(),
    "mask": mask,
    "session": os.getsid(0) == os.getpid(),
    "stdin": os.readlink("/proc/self/fd/0"),
    "hears": signal.getsignal(signal.SIGINT) is not signal.SIG_IGN,
    "open": sorted(int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2)[:-1],
}
folder = Path(os.environb[b"FOLDER"].decode())
(folder / f"{os.getpid()}.json").write_text(json.dumps(facts))
if (folder / "die").exists():
    sys.exit("no memory for the KV cache\\nraise --mem-fraction-static")
if not (folder / "launcher").exists():
    (folder / "launcher").write_text(f"{os.getpid()}\\n")
time.sleep(60)
"""
NASTY = (
    b"",
    b"two words",
    b'it\'s "quoted" `x` $HOME $(id) \\ \\n %s',
    b"line\nends\n",
    b"\xff\xfe\x01\t*?[a]",
    b"-n",
    b"a=b",
    b"",
)
ENVIRON = {
    b"PLAIN": b"1",
    b"EMPTY": b"",
    b"LINES": b"first\nsecond\n\n",
    b"QUOTES": b'it\'s "this" $(touch x) \\ %d',
    b"BYTES": b"\xff\xfe=\x01",
    b"BASH_FUNC_module%%": b"() {  eval `modulecmd bash $*`\n}",
    b"HF_TOKEN": b"hf_secret",
    b"-i": b"a name like an option",
}


@dataclass
class Launched:
    folder: Path
    log: Path
    process: subprocess.Popen[bytes]
    again: list[int] = field(default_factory=list)

    def seen(self, **more: object) -> Server:
        pid = self.process.pid
        given = {"pid": pid, "start": start_time(pid), "engine": "sglang", "argv": ("python", "server.py"), **more}
        return Server(**given)  # type: ignore[arg-type]

    def facts(self, pid: int) -> Mapping[str, object]:
        found: Mapping[str, object] = json.loads((self.folder / f"{pid}.json").read_text())
        return found

    async def told(self, pid: int) -> Mapping[str, object]:
        file = self.folder / f"{pid}.json"
        await eventually(lambda: file.exists() and file.read_text().endswith("}"))
        return self.facts(pid)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(autouse=True)
def keeping_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where captures are kept by LocalHost; a login over SSH keeps them in /tmp."""
    place = tmp_path / "run"
    place.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    return place


def kept(place: Path) -> list[Path]:
    return [*place.glob("bringup-launch.*"), *Path("/tmp").glob("bringup-launch.*")]


@contextlib.contextmanager
def launched(tmp_path: Path, words: Sequence[bytes] = (), **more: object) -> Iterator[Launched]:
    folder = tmp_path / "facts"
    cwd = tmp_path / "a place\nwith 'odd' name "
    log = tmp_path / "it's a log.txt"
    for each in (folder, cwd):
        each.mkdir()
    (cwd / "server.py").write_text(PROGRAM)
    environ = {b"FOLDER": os.fsencode(folder), b"PATH": os.fsencode(Path(sys.executable).parent) + b":/usr/bin:/bin"}
    mask = os.umask(0o027)
    try:
        with log.open("wb") as output:
            given = {"stdout": output, "stderr": output, **more}
            process = subprocess.Popen(
                [b"python3", b"server.py", *words],
                env={**environ, **ENVIRON},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **given,  # type: ignore[call-overload]
            )
    finally:
        os.umask(mask)
    made = Launched(folder, log, process)
    try:
        read_pid(folder, "launcher")
        yield made
    finally:
        made.end()
        for file in folder.glob("*.json"):
            with contextlib.suppress(ProcessLookupError):
                if alive(int(file.stem)):
                    os.kill(int(file.stem), signal.SIGKILL)


@pytest.mark.parametrize("host", ["sftp", "shell", "local"], indirect=True)
async def test_the_same_again(host: Host, tmp_path: Path, keeping_place: Path) -> None:
    with launched(tmp_path, NASTY) as server:
        seen = server.seen()
        first = await server.told(seen.pid)
        launchable = await capture(host, seen)
        (folder,) = kept(keeping_place)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if not file.is_symlink()} == {0o600}
        assert (launchable.stdout, launchable.stderr) == (str(server.log), str(server.log))
        assert launchable.cwd == first["cwd"]
        await stop(host, await survey(host, seen), signal="KILL", report=lambda _: None)
        started = await relaunch(host, launchable)
        assert kept(keeping_place) == []
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
