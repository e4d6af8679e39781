"""What a look clears out of /tmp is its own: no file of another user, and none that only has a similar name."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakeserver import start_time
from leftopen import unfinished
from loggedin import LoggedIn
from shellhost import Shell

from bringup.core.events import Server
from bringup.hosts.control import claim
from bringup.hosts.local import LocalHost

GONE = Server(pid=4_194_303, start=7, engine="sglang", argv=("python",), port=30000)
OWNER = 65534
SIMILAR = {
    "bringup-0.1.0-py3-none-any.whl": "",
    "bringup-0.1.0-py3.tar.gz": "",
    "bringup-1-2.backup": "what I want to keep",
    "bringup-2026-11-30.backup": "",
    "bringup-12-34.AbC12": "",
    "bringup-12-34.AbC1234": "",
    "bringup-12-34.Ab.123": "",
    "bringup-12-34x.AbC123": "",
    "bringup-12 5-34.AbC123": "",
    "bringup-demo-e4m79lib.cached": "",
}
MARKS = {"bringup-12-34.AbC123": "action stop\nwho ann\n", "bringup-4194303-99.zzzzzz": ""}
"""The second one was cut off before anything was written to it."""


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like /tmp, which every user can reach."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o1777)
    monkeypatch.setenv("BRINGUP_PLACES", str(folder))
    yield folder
    shutil.rmtree(folder)


def make(folder: Path, files: dict[str, str], owner: int | None = None) -> set[str]:
    for name, text in files.items():
        path = folder / name
        path.write_text(text)
        if owner is not None:
            os.chown(path, owner, owner)
        os.utime(path, (time.time() - 3 * 86400,) * 2)
    return set(files)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", ["dash", "bash", "busybox"])
async def test_a_similar_name_is_none_of_ours(shared: Path, tmp_path: Path, name: str) -> None:
    host = Shell(name, tmp_path)
    await claim(host, GONE, "stop", token="ours")
    now = names(shared)
    similar, _ = make(shared, SIMILAR), make(shared, MARKS)
    await unfinished(host)
    assert names(shared) == now | similar


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs to become somebody else")
async def test_root_removes_nothing_of_others(shared: Path) -> None:
    root, owner = LocalHost("box"), LoggedIn(OWNER)
    theirs = make(shared, {**SIMILAR, **MARKS}, OWNER)
    await claim(root, GONE, "stop", token="ours")
    await unfinished(root)
    assert names(shared) >= theirs
    await claim(owner, Server(os.getpid(), start_time(os.getpid()), "vllm", ()), "stop")
    await unfinished(owner)
    assert names(shared) >= set(SIMILAR)
    assert not set(MARKS) & names(shared)
