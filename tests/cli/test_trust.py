"""What a watching process leaves and opens: files for their owner only, no listening socket, no secret in sight."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import paststarts
import pytest
from fakehost import running
from headless import Way, ended
from headless import way as way
from sshd import free_port
from sshd import real_sshd as real_sshd
from waiting import eventually

from bringup.cli.crash import keep
from bringup.core.defects import failure_of
from bringup.history.store import Store
from bringup.recordings.writer import Writer
from bringup.report.diagnosis import save
from bringup.report.saving import keep as keep_report

WRITERS: dict[str, Callable[[Path], object]] = {
    "history": lambda folder: Store(folder).record(paststarts.start()),
    "recording": lambda folder: Writer(folder / "recordings" / "a.bringup", {}, 0.0).close(),
    "diagnosis": lambda folder: save("text", folder / "reports", "gpu-a", 1e9),
    "report": lambda folder: keep_report("text", folder / "reports", "gpu-a", 1e9),
    "crash": lambda folder: keep(failure_of(ValueError("x")), folder),
}
LISTENING = "0A"
SECRET = "hunter2hunter2"


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["umask 0", "umask 022", "umask 077"])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("mask")
@pytest.mark.parametrize("name", WRITERS)
def test_files_and_folders_are_for_their_owner_only(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "share" / "bringup"
    WRITERS[name](folder)
    made = list((tmp_path / "share").rglob("*"))
    assert any(path.is_file() for path in made)
    for path in (tmp_path / "share", *made):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def sockets(pid: int) -> set[str]:
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = descriptor.readlink().name
        except FileNotFoundError:
            continue
        if target.startswith("socket:"):
            found.add(target.removeprefix("socket:[").removesuffix("]"))
    return found


def listening(pid: int) -> list[str]:
    """The rows of the kernel's tables about sockets of a process on which it waits for others."""
    own = sockets(pid)
    rows = [row.split() for kind in ("tcp", "tcp6") for row in table(pid, kind)]
    found = [" ".join(row[:4]) for row in rows if row[9] in own and row[3] == LISTENING]
    found += [row for kind in ("udp", "udp6") for row in table(pid, kind) if row.split()[9] in own]
    # Unix sockets: a path or an abstract name that somebody could connect to (flag 0x10000: it listens).
    named = [row.split() for row in table(pid, "unix")]
    return found + [" ".join(row) for row in named if row[6] in own and int(row[3], 16) & 0x10000]


def table(pid: int, kind: str) -> list[str]:
    return Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]


async def test_a_watching_process_listens_nowhere(way: Way) -> None:
    process = await way.start("wait", "box", "--port", "1", "--appear", "60s")
    await eventually(lambda: b"ESTABLISHED" in established(process.pid))
    seen = []
    for _ in range(20):
        if process.returncode is not None:
            break
        seen += listening(process.pid)
        await asyncio.sleep(0.1)
    assert process.returncode is None, await ended(process)
    assert seen == []


def established(pid: int) -> bytes:
    own = sockets(pid)
    rows = [row.split() for row in table(pid, "tcp")]
    return b"ESTABLISHED" if any(row[9] in own and row[3] == "01" for row in rows) else b""


async def test_a_secret_of_a_server_is_in_no_process_list_and_no_file(way: Way, tmp_path: Path) -> None:
    """The server has it on its command line; nothing that we start there or here repeats it."""
    port = str(free_port())
    args = ("--model-path", "m", "--port", port, "--api-key", SECRET)
    place = tmp_path / "server"
    place.mkdir()
    own = {os.getpid()}
    with running(place, 1, args) as tree:
        tree.become_ranks()
        own |= {tree.pid, *(child.pid for child in tree.children)}
        process = await way.start("wait", "box", "--port", port, "--timeout", "4s")
        asked: set[bytes] = set()
        while process.returncode is None:
            asked |= commands(own)
            await asyncio.sleep(0.02)
        out, err = await process.communicate()
    assert len(asked) > 2, "something ran on the host meanwhile"
    assert not [words for words in asked if SECRET.encode() in words]
    assert SECRET.encode() not in out + err
    kept = [path for path in (way.folder / "data").rglob("*") if path.is_file()]
    assert not [path for path in kept if SECRET.encode() in path.read_bytes()]


def commands(but: set[int]) -> set[bytes]:
    """Command lines, and what of environments can be read, of all processes that are not the server's or ours."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) not in but:
            try:
                found.add((folder / "cmdline").read_bytes())
            except OSError:
                continue
    return found


# --- locales ---

NAME = "modèle-日本-\u202e"


@pytest.mark.long
@pytest.mark.parametrize(
    "locale",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LANG": "POSIX", "LC_ALL": "POSIX"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=str,
)
async def test_no_locale_breaks_an_output(locale: dict[str, str], tmp_path: Path) -> None:
    data = tmp_path / "data"
    key = paststarts.KEY
    Store(data).record(paststarts.start(1, key=type(key)("gpu-é", "sglang", NAME), target="höst"))
    log = tmp_path / "lögfile.log"
    line = "[2026-03-02 09:14:30] server_args=ServerArgs(model_path='/m/modèle-日本', tp_size=1)\n"
    log.write_text(line + "[2026-03-02 09:14:31] ValueError: é 日本\n", "utf-8")
    environ = {**os.environ, "BRINGUP_DATA_DIR": str(data), "BRINGUP_CONFIG_DIR": str(tmp_path), **locale}
    commands = (
        ("history",), ("history", "--json"), ("history", "--csv"),
        ("explain", str(log)), ("explain", "--json", str(log)),
        ("status", "--port", "31999", "--log", str(log)), ("explain", str(tmp_path / "désolé")), ("nö",), ("--help",),
        ("wait", "--port", "31999", "--appear", "1s"),
    )  # fmt: skip
    for words in commands:
        done = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bringup", *words), env=environ, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await done.communicate()
        said = out + err
        assert said.strip(), words
        assert b"Traceback" not in said, said
        assert b"bringup itself failed" not in said, said
        assert b"Encod" not in said, said
