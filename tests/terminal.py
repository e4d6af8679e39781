"""Run a program in a pseudo-terminal, watch what it draws and what it costs; and what it leaves behind."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

TICKS = os.sysconf("SC_CLK_TCK")


class Terminal:
    """A program on a terminal of `columns` x `rows`; everything it writes is read, so that it never blocks."""

    def __init__(self, argv: Sequence[str], *, columns: int = 120, rows: int = 40, env: dict[str, str] | None = None):
        self.started = time.perf_counter()
        # The other end is kept open: what the program leaves set can be looked at when it has ended.
        self.fd, self._other_end = os.openpty()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        # They would count for more than the size of the terminal.
        surroundings = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self._process = subprocess.Popen(
            argv,
            stdin=self._other_end,
            stdout=self._other_end,
            stderr=self._other_end,
            env={**surroundings, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})},
            start_new_session=True,
            preexec_fn=partial(fcntl.ioctl, 0, termios.TIOCSCTTY, 0),
        )
        self.pid = self._process.pid
        self.seen = b""

    def wait_for(self, marker: bytes, timeout: float = 60.0) -> float:
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

    def drain(self, seconds: float, *, keep: bool = False) -> int:
        """Read for `seconds`; return how many bytes were drawn. They are forgotten unless they are to be kept."""
        end, drawn = time.perf_counter() + seconds, 0
        while (left := end - time.perf_counter()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                data = os.read(self.fd, 1 << 16)
                drawn += len(data)
                self.seen += data if keep else b""
        return drawn

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self.fd, keys)

    def end(self, timeout: float = 60.0) -> int:
        """Read until the program has ended by itself; return its exit status, negative for a signal."""
        deadline = time.perf_counter() + timeout
        while self._process.poll() is None:
            if time.perf_counter() > deadline:
                raise TimeoutError(self.seen[-400:])
            self._take(0.02)
        while self._take(0.0):
            continue
        return self._process.returncode

    def has_modes(self) -> bool:
        """The terminal is as a shell wants it: lines are edited by it, what is typed is shown, Ctrl+C interrupts."""
        wanted = termios.ICANON | termios.ECHO | termios.ISIG
        return termios.tcgetattr(self._other_end)[3] & wanted == wanted

    def _take(self, timeout: float) -> bool:
        if not select.select([self.fd], [], [], timeout)[0]:
            return False
        self.seen += os.read(self.fd, 1 << 16)
        return True

    def cpu(self) -> float:
        """CPU seconds of the program so far, user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self.end(30.0)
        except TimeoutError:
            self._process.kill()
            self._process.wait()
        os.close(self._other_end)
        os.close(self.fd)
