"""Process trees that look like a server's and really run, map files and listen; programs that stand in for others."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).parent
PACKAGE = f"import sys\nsys.path.append({str(HERE)!r})\nfrom fake_server import main\nmain()\n"
UUIDS = tuple(f"GPU-0000000{number}-aaaa-bbbb-cccc-dddddddddddd" for number in range(8))


class Member:
    """One process of the tree, and the pipes by which it is told what to do."""

    def __init__(self) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self.theirs = (theirs_in, theirs_out)
        self._out: IO[str] = os.fdopen(ours_out, "w")
        self._in: IO[str] = os.fdopen(ours_in)
        self.pid = 0

    def do(self, verb: str, *args: str | Path | int) -> Any:
        """Tell it to do something and wait until it is done."""
        self._out.write(json.dumps([verb, *map(str, args)]) + "\n")
        self._out.flush()
        if verb == "leave":
            return None
        return json.loads(self._in.readline())

    def close(self) -> None:
        """Let it end."""
        with contextlib.suppress(BrokenPipeError):
            self._out.close()
        self._in.close()


class Tree:
    """A launcher (`python3 -m sglang.launch_server …`) and its children."""

    def __init__(self, process: subprocess.Popen[bytes], members: Sequence[Member]) -> None:
        self.process = process
        self.launcher, *self.children = members

    @property
    def pid(self) -> int:
        """PID of the launcher."""
        return self.launcher.pid

    def become_ranks(self) -> None:
        """Give every child the title of a scheduler."""
        for number, child in enumerate(self.children):
            child.do("title", f"sglang::scheduler_TP{number}", "sglang::schedul")


@contextmanager
def running(
    folder: Path,
    children: int = 0,
    args: Sequence[str] = ("--model-path", "/models/tiny", "--port", "30000"),
    module: str = "sglang.launch_server",
    **popen: Any,
) -> Iterator[Tree]:
    """Start a server's tree; all of it ends with the block."""
    package, name = module.split(".")
    (folder / package).mkdir(exist_ok=True)
    (folder / package / "__init__.py").touch()
    (folder / package / f"{name}.py").write_text(PACKAGE)
    members = [Member() for _ in range(children + 1)]
    theirs = [end for member in members for end in member.theirs]
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "FAKE_PIPES": json.dumps([member.theirs for member in members]),
    }
    options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **popen}
    process = subprocess.Popen(
        ["python3", "-m", module, *args], executable=sys.executable, env=environment, pass_fds=theirs, **options
    )
    try:
        for end in theirs:
            os.close(end)
        for member in members:
            member.pid = member.do("pid")
        yield Tree(process, members)
    finally:
        for member in members:
            member.close()
        process.wait(60)


def make_shards(folder: Path, count: int, size: int = 8192) -> list[Path]:
    """Write checkpoint files, each of another size."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
    for number, file in enumerate(files):
        file.write_bytes(b"x" * (size + number))
    return files


def make_program(folder: Path, name: str, text: str) -> Path:
    """Put a shell script on a folder that a test puts on its PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n" + text)
    program.chmod(0o755)
    return program


def make_smi(folder: Path, gpus: str, apps: str) -> Path:
    """Make a nvidia-smi that answers both queries with fixed text."""
    (folder / "gpus.csv").write_text(gpus)
    (folder / "apps.csv").write_text(apps)
    text = f'case "$*" in *query-gpu=*) cat {folder}/gpus.csv ;; *query-compute-apps=*) cat {folder}/apps.csv ;; esac\n'
    return make_program(folder / "bin", "nvidia-smi", text)
