"""Run a program in a pseudo-terminal, watch what it draws and what it costs; shared by the benches of the console."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

TICKS = os.sysconf("SC_CLK_TCK")


class Terminal:
    """A program on a terminal of `columns` x `rows`; everything it writes is read, so that it never blocks."""

    def __init__(self, argv: Sequence[str], *, columns: int = 120, rows: int = 40, env: dict[str, str] | None = None):
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})})
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvp(argv[0], list(argv))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.seen = b""

    def wait_for(self, marker: bytes, timeout: float = 20.0) -> float:
        """Read until `marker` is drawn; return the seconds since now."""
        begin = time.perf_counter()
        while marker not in self.seen:
            self.read(timeout - (time.perf_counter() - begin))
        return time.perf_counter() - begin

    def read(self, timeout: float) -> bytes:
        """Read what is there, waiting up to `timeout` seconds for the first byte; raises TimeoutError."""
        if timeout <= 0 or not select.select([self.fd], [], [], timeout)[0]:
            raise TimeoutError(self.seen[-400:])
        data = os.read(self.fd, 1 << 16)
        self.seen += data
        return data

    def drain(self, seconds: float) -> int:
        """Read for `seconds`; return how many bytes were drawn."""
        end, drawn = time.perf_counter() + seconds, 0
        while (left := end - time.perf_counter()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                drawn += len(os.read(self.fd, 1 << 16))
        return drawn

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self.fd, keys)

    def cpu(self) -> float:
        """CPU seconds of the program so far, user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, 15)
        # The terminal is gone together with the program.
        with contextlib.suppress(OSError):
            self.drain(0.3)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
