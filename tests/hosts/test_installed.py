"""The version of an engine, found by the folders of the interpreter that runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.hosts.readiness.installed import installed_version
from bringup.hosts.shipped import with_arguments


def make_environment(folder: Path, *names: str) -> Path:
    """Make what looks like a virtual environment with these packages; returns its libraries."""
    place = folder / "lib" / "python3.12" / "site-packages"
    for name in names:
        (place / f"{name}.dist-info").mkdir(parents=True)
    return place


@contextmanager
def running(program: str, text: str, *args: str, name: str = "", **env: str) -> Iterator[int]:
    """Run a program until the block ends; `name` is what it finds as its own name."""
    command = [name or program, "-c", text, *args]
    process = subprocess.Popen(command, executable=program, env={"PATH": os.environ["PATH"], **env},
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
    finally:
        process.communicate(b"\n", timeout=60)


WAIT = "import sys; print(flush=True); sys.stdin.readline()"
MAPPED = f"import mmap, sys; file = open(sys.argv[1], 'rb'); kept = mmap.mmap(file.fileno(), 0, access=1); {WAIT}"


async def test_by_the_name_of_its_interpreter(host: Host, tmp_path: Path) -> None:
    make_environment(tmp_path / "venv", "sglang-0.5.9", "sglang_router-0.1.0", "torch-2.9.0")
    with running(sys.executable, WAIT, name=str(tmp_path / "venv" / "bin" / "python")) as pid:
        assert await installed_version(host, pid, "sglang") == "0.5.9"
        assert await installed_version(host, pid, "vllm") is None


async def test_by_the_environment(tmp_path: Path) -> None:
    make_environment(tmp_path / "a venv", "vllm-0.11.0+cu128")
    with running(sys.executable, WAIT, VIRTUAL_ENV=str(tmp_path / "a venv")) as pid:
        assert await installed_version(LocalHost(), pid, "vllm") == "0.11.0"


async def test_what_is_mapped_counts_first(tmp_path: Path) -> None:
    make_environment(tmp_path / "other", "sglang-0.4.9.post6")
    place = make_environment(tmp_path / "used", "sglang-0.5.20rc1")
    library = place / "numpy" / "core.so"
    library.parent.mkdir()
    library.write_bytes(b"x" * 5000)
    with running(sys.executable, MAPPED, str(library), VIRTUAL_ENV=str(tmp_path / "other")) as pid:
        assert await installed_version(LocalHost(), pid, "sglang") == "0.5.20rc1"


async def test_a_process_that_is_gone() -> None:
    assert await installed_version(LocalHost(), 4194303, "sglang") is None


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_under_every_shell(shell: str, tmp_path: Path) -> None:
    words = shell.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    path = os.environ["PATH"]
    if words[0] == "busybox":
        path = str(tmp_path)
        for tool in ("readlink", "sed", "tr", "head", "awk"):
            (tmp_path / tool).symlink_to(shutil.which("busybox") or "")
    make_environment(tmp_path / "venv", "sglang-0.5.20.post1")
    program = shutil.which(words[0]) or ""
    with running(sys.executable, WAIT, VIRTUAL_ENV=str(tmp_path / "venv")) as pid:
        text = with_arguments("readiness/installed.sh", str(pid), "sglang")
        done = subprocess.run([program, *words[1:], "-c", text], env={"PATH": path}, capture_output=True, check=False)
    assert done.stdout == b"sglang-0.5.20.post1.dist-info\n"
