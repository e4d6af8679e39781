"""The environment of a server goes to the next one byte for byte, and through nobody's command line."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import launchedserver
import pytest
from launchedserver import NASTY, launched
from recordedtools import busybox_tools, never_told, record_tools
from waiting import eventually

from bringup.core.errors import BringupError
from bringup.hosts.base import Completed
from bringup.hosts.control import LaunchFailed, claim, release
from bringup.hosts.control.configured import LaunchCommand, launch
from bringup.hosts.control.relaunch import Launchable, capture, relaunch
from bringup.hosts.local import LocalHost

SECRET = b"hf_very_secret_word"
MORE = {
    b"HF_TOKEN": SECRET,
    b"BIG": b"big_secret" + b"0123456789abcdef'\n$(x) " * 4_000,
    b"UNICODE": "Größe \N{SNOWMAN} 模型".encode(),
    b"TRAILING": b"\n\n \n",
    # Names that a script might use itself.
    **dict.fromkeys((b"word", b"hidden", b"environment", b"env", b"level", b"unlike", b"folder"), b"theirs"),
    b"IFS": b"/e",
    b"PWD": b"/not/where/it/is",
    b"OLDPWD": b"",
    b"SHLVL": b"3",
    b"LC_ALL": b"C.UTF-8",
    b"odd name.1": b"1",
    **{b"VLLM_%d" % number: b"x" * number for number in range(150)},
}
NOT_BY_SHELL = {b"-i", b"odd name.1", b"BASH_FUNC_module%%"}


class Tooled(LocalHost):
    """This machine with nothing but the tools in one folder, and another /bin/sh."""

    def __init__(self, shell: str, folder: Path) -> None:
        super().__init__("box")
        self._shell = shell
        self._path = folder
        self.asked: list[str] = []

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        self.asked.append(script)
        placed = f"PATH={self._path}\nexport PATH\n{script}"
        return await super().run(f"exec {self._shell} -c {shlex.quote(placed)}", stdin=stdin, timeout=60.0, limit=limit)


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("BRINGUP_PLACES", str(tmp_path / "run"))
    return tmp_path / "run"


def tools(way: str, folder: Path) -> tuple[Tooled, Path]:
    """Return a host on which a server is launched by perl, by python3, or by a shell; and what was called there."""
    if way == "busybox":
        record = busybox_tools(folder)
        return Tooled("busybox sh", folder), record
    if shutil.which(way) is None:
        pytest.skip(f"there is no {way} here")
    if way in ("perl", "python3"):
        return Tooled("/bin/sh", folder), record_tools(folder, without={"perl", "python3"} - {way})
    shell = str(shutil.which(way))
    return Tooled(shell, folder), record_tools(folder, shell=shell, without=("perl", "python3"))


@pytest.mark.parametrize("way", ["perl", "python3", "dash", "bash", "busybox"])
async def test_it_arrives_whole_and_unseen(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host, record = tools(way, tmp_path / "tools")
    monkeypatch.setattr(launchedserver, "ENVIRON", {**launchedserver.ENVIRON, **MORE})
    with launched(tmp_path, NASTY) as server:
        seen = server.seen()
        claimed = await claim(host, seen, "restart")
        kept = await capture(host, seen, claimed)
        before = {word for word in Path(f"/proc/{seen.pid}/environ").read_bytes().split(b"\0") if word}
        argv = Path(f"/proc/{seen.pid}/cmdline").read_bytes()
        server.end()
        started = await relaunch(host, kept, watch=0)
        await release(host, claimed)
        await server.told(started.pid)
        after = {word for word in Path(f"/proc/{started.pid}/environ").read_bytes().split(b"\0") if word}
        assert Path(f"/proc/{started.pid}/cmdline").read_bytes() == argv
    lost = set() if way in ("perl", "python3") else NOT_BY_SHELL
    wanted = {word for word in before if word.partition(b"=")[0] not in lost}
    assert (sorted(wanted - after), sorted(after - wanted)) == ([], [])
    told = sorted(text for text in started.unlike if text.startswith("variable"))
    reason = "of its environment (neither perl nor python3 is there to set it)"
    assert told == sorted(f"variable {name.decode()} {reason}" for name in lost)
    never_told(record, [SECRET, b"big_secret"])
    assert not any(SECRET.decode() in script for script in host.asked)


@pytest.mark.parametrize("way", ["perl", "python3", "dash", "busybox"])
async def test_a_configured_one_travels_on_the_input(way: str, tmp_path: Path) -> None:
    host, record = tools(way, tmp_path / "tools")
    env = {
        "HF_TOKEN": SECRET.decode(),
        "LINES": "one\ntwo\n\n",
        "EMPTY": "",
        "QUOTES": 'it\'s "x" $(id) \\n',
        "ODD": "é ☃",
    }
    command = LaunchCommand("exec sleep 60", str(tmp_path), env)
    started = await launch(host, "kimi", command, watch=0)
    await eventually(lambda: Path(f"/proc/{started.pid}/comm").read_text() == "sleep\n")
    found = Path(f"/proc/{started.pid}/environ").read_bytes().split(b"\0")
    for name, value in env.items():
        assert f"{name}={value}".encode() in found
    os.kill(started.pid, 9)
    never_told(record, [SECRET])
    assert not any(SECRET.decode() in script for script in host.asked)


@pytest.mark.parametrize("way", ["perl", "python3", "dash", "bash", "busybox"])
async def test_what_cannot_be_started_says_so(way: str, tmp_path: Path) -> None:
    host, _ = tools(way, tmp_path / "tools")
    with launched(tmp_path) as server:
        kept = await capture(host, server.seen(), await claim(host, server.seen(), "restart"))
        server.end()
        plain = server.folder / "plain"
        for program, status, said in (("no-such-program", 127, "no-such-program"), (str(plain), 126, "plain")):
            plain.write_text("")
            put_in_its_place(kept, program)
            with pytest.raises(LaunchFailed, match=rf"exit status {status}: .*{said}"):
                await relaunch(host, kept, watch=60)
        put_in_its_place(kept, "")
        with pytest.raises(LaunchFailed, match=r"exit status 126: .*cannot be launched"):
            await relaunch(host, kept, watch=60)


def put_in_its_place(kept: Launchable, program: str) -> None:
    """Change what was kept behind the back of everything: as if its program had gone meanwhile."""
    assert kept.claim is not None
    folder = Path(kept.claim.folder)
    (argv,) = folder.parents[1].rglob(f"{folder.name}/argv")
    argv.write_bytes(program.encode() + b"\0")


async def test_a_shell_that_could_not_keep_it_to_itself(tmp_path: Path) -> None:
    """mksh has no printf of its own: a value would be in the command line of the one in /usr/bin."""
    host, record = tools("mksh", tmp_path / "tools")
    with launched(tmp_path) as server:
        kept = await capture(host, server.seen(), await claim(host, server.seen(), "restart"))
        server.end()
        with pytest.raises(BringupError, match=r"exit status 126: Neither perl nor python3 is there"):
            await relaunch(host, kept, watch=60)
    never_told(record, [b"hf_secret"])
