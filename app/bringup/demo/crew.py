"""The children of the simulated launcher: ranks and detokenizer, started by multiprocessing as in the original."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from bringup.demo.options import Options
from bringup.demo.plan import Plan
from bringup.demo.rank import Post, detokenize, run

TURN = 0.2
"""Seconds between two looks at the flags that signals set."""


class ChildFailedError(Exception):
    """A rank logged its exception and sent SIGQUIT."""


class ChildGoneError(Exception):
    """A child ended without a word: `name` of the child, its number, PID and exit status."""

    def __init__(self, name: str, number: int, pid: int, status: int) -> None:
        super().__init__(f"{name} {number} ended")
        self.name = name
        self.number = number
        self.pid = pid
        self.status = status


class Crew:
    """Starts the children, keeps their barriers, and notices when one ends."""

    def __init__(self, plan: Plan, options: Options, began: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._members: list[tuple[str, int, BaseProcess]] = []
        self._conns: list[Connection] = []
        self._lock = threading.Lock()
        self._arrived: dict[str, int] = {}
        self._served: dict[str, int] = {}
        self.ready = 0
        self.quit = False
        for rank in range(options.ranks + 1):
            here, there = context.Pipe()
            post = Post(
                plan=plan,
                rank=rank,
                ranks=options.ranks,
                launcher=os.getpid(),
                began=began,
                target=Path(options.model),
                draft=Path(options.draft) if options.draft else None,
                fraction=options.fraction,
            )
            scheduler = rank < options.ranks
            process = context.Process(target=run if scheduler else detokenize, args=(post, there))
            process.start()
            there.close()
            self._members.append(("scheduler", rank, process) if scheduler else ("detokenizer", 0, process))
            self._conns.append(here)
        self._ranks = options.ranks

    def attend(self, seconds: float) -> None:
        """Serve the children for some real seconds; raises ChildFailedError or ChildGoneError."""
        end = time.monotonic() + seconds
        while True:
            self._turn(max(0.0, min(TURN, end - time.monotonic())))
            if time.monotonic() >= end:
                return

    def tell(self, what: str, ranks: int | None = None) -> None:
        """Send a message to the first ranks, or to all; one that is gone hears nothing."""
        with self._lock:
            for conn in self._conns[: self._ranks if ranks is None else ranks]:
                try:
                    conn.send(what)
                except OSError:
                    continue

    def ask_all(self, what: str, timeout: float) -> bool:
        """Ask all ranks and return whether all answered within `timeout` real seconds; the main thread attends."""
        self._served[what] = 0
        self.tell(what)
        end = time.monotonic() + timeout
        while self._served[what] < self._ranks:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def await_failure(self, seconds: float) -> None:
        """Wait until a rank has logged its exception and sent SIGQUIT, for some real seconds at most."""
        end = time.monotonic() + seconds
        while not self.quit and time.monotonic() < end:
            time.sleep(0.02)

    def live(self) -> list[int]:
        """Return the PIDs of the children that live."""
        return [process.pid for _, _, process in self._members if process.pid and process.exitcode is None]

    def kill(self) -> None:
        """Send SIGKILL to all children; multiprocessing's resource tracker ends when nobody is left to track."""
        for pid in self.live():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _turn(self, timeout: float) -> None:
        sentinels = {process.sentinel for _, _, process in self._members}
        for item in wait([*self._conns, *sentinels], timeout):
            if isinstance(item, Connection):
                self._hear(item)
        if self.quit:
            raise ChildFailedError
        for name, number, process in self._members:
            if process.exitcode is not None and process.pid is not None:
                # A rank that has logged its own exception sends SIGQUIT before it ends with status 0.
                raise ChildGoneError(name, number, process.pid, process.exitcode)

    def _hear(self, conn: Connection) -> None:
        try:
            kind, what = conn.recv()
        except (EOFError, OSError):
            self._conns.remove(conn)
            return
        if kind == "ready":
            self.ready += 1
        elif kind == "served":
            self._served[what] = self._served.get(what, 0) + 1
        else:
            self._arrived[what] = self._arrived.get(what, 0) + 1
            if self._arrived[what] == self._ranks:
                self.tell("go")
