"""One process of a server that is not there: it does what its control pipe says, and ends with that pipe.

Started as the launcher; forks the children that the environment asks for. The launcher and each child has a pair of
pipes of its own, so that the test speaks to every process directly.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import signal
import socket
import subprocess
from pathlib import Path

PLACES = 48 - 3, 49 - 3
"""arg_start and arg_end in /proc/PID/stat, among the fields after the command's name."""


class Fake:
    """What one process can be told to do."""

    def __init__(self) -> None:
        self.mapped: dict[str, mmap.mmap] = {}
        self.sockets: list[socket.socket] = []

    def obey(self, verb: str, *args: str) -> object:
        return getattr(self, f"do_{verb}")(*args)

    def do_pid(self) -> int:
        return os.getpid()

    def do_map(self, *paths: str) -> None:
        """Map files and touch their first page."""
        for path in paths:
            with Path(path).open("rb") as file:
                self.mapped[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            _ = self.mapped[path][0]

    def do_unmap(self, *paths: str) -> None:
        for path in paths:
            self.mapped.pop(path).close()

    def do_title(self, title: str, comm: str = "") -> None:
        """Overwrite the arguments, as setproctitle does; with `comm` the name in /proc/PID/stat too."""
        raw = Path("/proc/self/stat").read_text("latin-1")
        start, end = (int(raw[raw.rindex(")") + 2 :].split()[place]) for place in PLACES)
        text = title.encode("latin-1")[: end - start - 1]
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, text, len(text))
        if comm:
            ctypes.CDLL(None).prctl(15, ctypes.c_char_p(comm.encode("latin-1")), 0, 0, 0)

    def do_listen(self, address: str = "127.0.0.1") -> int:
        self.sockets.append(socket.create_server((address, 0)))
        return int(self.sockets[-1].getsockname()[1])

    def do_print(self, text: str) -> None:
        print(text, flush=True)

    def do_spawn(self, *command: str) -> int:
        return subprocess.Popen(command).pid

    def do_ignore(self, name: str) -> None:
        signal.signal(signal.Signals[name], signal.SIG_IGN)

    def do_group(self) -> None:
        """Make a process group of its own."""
        os.setpgid(0, 0)

    def do_touch(self, count: str) -> None:
        """Fault in fresh pages."""
        with mmap.mmap(-1, int(count) * mmap.PAGESIZE) as fresh:
            for page in range(int(count)):
                fresh[page * mmap.PAGESIZE] = 1

    def do_leave(self) -> None:
        """End without a word, leaving the children."""
        os._exit(3)


def serve(read: int, write: int) -> None:
    fake = Fake()
    with os.fdopen(read) as commands, os.fdopen(write, "w") as answers:
        for line in commands:
            answers.write(json.dumps(fake.obey(*json.loads(line))) + "\n")
            answers.flush()
    os._exit(0)


def main() -> None:
    """Fork a child for each pair of pipes but the first, then serve the first."""
    pairs = json.loads(os.environ["FAKE_PIPES"])
    for number, pair in enumerate(pairs):
        if number and os.fork() == 0:
            close_all(pairs, keep=pair)
            serve(*pair)
    close_all(pairs, keep=pairs[0])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    serve(*pairs[0])


def close_all(pairs: list[list[int]], keep: list[int]) -> None:
    for pair in pairs:
        if pair != keep:
            for end in pair:
                with contextlib.suppress(OSError):
                    os.close(end)
