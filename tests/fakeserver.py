"""A server made of real processes: a launcher, workers with titles, and a neighbour in the same process group.

Run as a script it is the launcher: arguments are the folder it tells its PIDs in, and words for how it behaves.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from waiting import alive

from bringup.core.events import Server

WORKER = """
import os, signal, subprocess, sys, time
from pathlib import Path
folder, number, *words = sys.argv[1:]
if "deaf" in words:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
if "compiler" in words and number == "0":
    program = os.readlink("/proc/self/exe")
    made = subprocess.Popen(["nvcc kernel.cu", "-c", "import time; time.sleep(600)"], executable=program)
    Path(folder, "compiler").write_text(f"{made.pid}\\n")
Path(folder, f"worker{number}").write_text(f"{os.getpid()}\\n")
time.sleep(600)
"""
PATIENCE = 60.0


def start_time(pid: int) -> int:
    """Return when a process started, in clock ticks."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def read_pid(folder: Path, name: str) -> int:
    """Wait for a process to tell its PID."""
    deadline = time.monotonic() + PATIENCE
    file = folder / name
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"{name} did not start"
        time.sleep(0.01)
    return int(file.read_text())


@dataclass
class FakeServer:
    """A running server."""

    folder: Path
    process: subprocess.Popen[bytes]
    argv: Sequence[str]
    pids: list[int] = field(default_factory=list)
    """All that was started, the neighbour too."""

    @property
    def pid(self) -> int:
        return self.process.pid

    def worker(self, number: int) -> int:
        return read_pid(self.folder, f"worker{number}")

    def seen(self, **more: object) -> Server:
        """The server as discovery would find it."""
        given = {"pid": self.pid, "start": start_time(self.pid), "engine": "sglang", "argv": tuple(self.argv), **more}
        return Server(**given)  # type: ignore[arg-type]

    def running(self) -> list[int]:
        return [pid for pid in self.pids if alive(pid)]


@contextlib.contextmanager
def fake_server(folder: Path, *words: str, shell: str = "", workers: int = 2) -> Iterator[FakeServer]:
    """Start a server in a session of its own; with `shell`, under a script of this text that runs "$@"."""
    argv = [sys.executable, __file__, str(folder), str(workers), *words]
    command = ["/bin/sh", "-c", shell, "sh", *argv] if shell else argv
    process = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)
    made = FakeServer(folder, process, argv)
    made.pids = [process.pid]
    try:
        for name in ("launcher", *(f"worker{number}" for number in range(workers))):
            made.pids.append(read_pid(folder, name))
        for word in ("compiler", "neighbour"):
            if word in words:
                made.pids.append(read_pid(folder, word))
        yield made
    finally:
        # Each was started by this test and holds its number until it is reaped here or by its parent.
        for pid in made.running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(PATIENCE)


def main(folder: Path, workers: int, words: Sequence[str]) -> None:
    """Be the launcher."""
    running = []
    if "deaf" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif "polite" in words:

        def end(*_: object) -> None:
            for each in running:
                each.kill()
            sys.exit(0)

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
    elif "twice" in words:

        def hear(*_: object) -> None:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            (folder / "heard").touch()

        signal.signal(signal.SIGTERM, hear)
    if "disguised" in words:
        Path("/proc/self/comm").write_text(") R 1 1 1\nx")
    if "neighbour" in words:
        # A child of nobody here, in the same group: what a pipeline's other end looks like.
        line = f"sleep 600 & echo $! >{folder}/neighbour"
        subprocess.run(["/bin/sh", "-c", line], check=True)
    for number in range(workers):
        title = f"sglang::scheduler_TP{number}"
        command = [title, "-c", WORKER, str(folder), str(number), *words]
        running.append(subprocess.Popen(command, executable=sys.executable))
    (folder / "launcher").write_text(f"{os.getpid()}\n")
    time.sleep(600)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
