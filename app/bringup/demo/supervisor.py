"""The process above everything that the demo starts: it starts, reaps, and in the end leaves nothing behind.

It runs apart from the demo's own process so that even `kill -9` of that one leaves no orphan: the end of their socket
is the end of all descendants. As a subreaper it stays the ancestor of a server that was restarted with setsid.
It is also the driver of the simulated GPUs. Standard library only.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from pathlib import Path

from bringup.demo import plan as plans
from bringup.demo.gpus import FREED_AFTER, Driver
from bringup.demo.plan import Plan
from bringup.demo.prctl import adopt_orphans

MESSAGE = 1 << 18
"""Bytes of the longest message: longer than the longest argument that Linux takes (128 KiB)."""
TICK = 0.2
"""Seconds between two looks of the GPU driver, at speed 1."""
GRACE = 1.0
"""Seconds between SIGHUP and SIGKILL for a command whose channel was closed."""
CLEANUP = 5.0
RESET = (signal.SIGPIPE, signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD)


def main() -> None:
    """Serve the socket whose descriptor is the first argument until it ends; the second one is the demo's folder."""
    sock, home = socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2])
    sock.set_inheritable(False)
    os.chdir(home)
    adopt_orphans()
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        plan = plans.read(home / "plan.json")
        lifeline = os.open(plan.lifeline, os.O_RDWR)
        try:
            Supervisor(sock, plan).serve()
        finally:
            os.close(lifeline)
    finally:
        _end_all(time.monotonic() + CLEANUP)
        shutil.rmtree(home, ignore_errors=True)


class Supervisor:
    """Starts commands on request, says how they ended, and keeps the GPUs."""

    def __init__(self, sock: socket.socket, plan: Plan) -> None:
        self._sock = sock
        self._driver = Driver(Path(plan.state), plan.ranks, plan.pace(FREED_AFTER))
        self._tick = max(0.05, plan.pace(TICK))
        self._running: dict[int, int] = {}
        """Key of the command by PID of its process."""
        self._doomed: dict[int, float] = {}
        """When to kill the group of a PID."""
        self._ending = False

    def serve(self) -> None:
        """Work until the socket ends or SIGTERM comes."""
        here, there = socket.socketpair()
        for end in (here, there):
            end.settimeout(0)
        signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._end)
        self._driver.tick(time.monotonic())
        self._say({"up": os.getpid()})
        try:
            with selectors.DefaultSelector() as selector, here, there:
                selector.register(self._sock, selectors.EVENT_READ)
                selector.register(here, selectors.EVENT_READ)
                while not self._ending:
                    self._turn(selector, here)
        finally:
            signal.set_wakeup_fd(-1)

    def _turn(self, selector: selectors.BaseSelector, wakeup: socket.socket) -> None:
        for key, _ in selector.select(self._tick):
            if key.fileobj is wakeup:
                wakeup.recv(4096)
            else:
                self._hear()
        self._reap()
        self._kill_doomed()
        self._driver.tick(time.monotonic())

    def _end(self, *_: object) -> None:
        self._ending = True

    def _hear(self) -> None:
        data, fds, _, _ = socket.recv_fds(self._sock, MESSAGE, 3)
        for fd in fds:
            # Received descriptors are inheritable, and recv_fds ignores its flags.
            os.set_inheritable(fd, False)  # noqa: FBT003 - positional only
        if not data:
            self._ending = True
            return
        head, _, command = data.partition(b"\n")
        order = json.loads(head)
        if order["do"] == "run":
            self._run(order, command, fds)
        elif (pid := self._pid(order["key"])) is not None:
            if order["do"] == "hangup":
                self._doomed[pid] = time.monotonic() + GRACE
            _signal_group(pid, order["signal"])

    def _run(self, order: dict[str, object], command: bytes, fds: list[int]) -> None:
        """Start a command in a session of its own, as sshd does."""
        key, argv = order["key"], [*map(str, _list(order["argv"])), *([os.fsdecode(command)] if command else [])]
        environ = {str(name): str(value) for name, value in _list(order["environ"])}
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(fds)]
        try:
            pid = os.posix_spawn(
                str(order["file"]), argv, environ, file_actions=actions, setsid=True, setsigmask=(), setsigdef=RESET
            )
        except OSError as error:
            self._say({"key": key, "failed": error.strerror})
        else:
            self._running[pid] = int(str(key))
            self._say({"key": key, "pid": pid})
        finally:
            for fd in fds:
                os.close(fd)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            key = self._running.pop(pid, None)
            self._doomed.pop(pid, None)
            if key is not None:
                self._say({"key": key, "status": os.waitstatus_to_exitcode(status), "core": os.WCOREDUMP(status)})

    def _kill_doomed(self) -> None:
        now = time.monotonic()
        for pid in [pid for pid, when in self._doomed.items() if when <= now]:
            del self._doomed[pid]
            _signal_group(pid, signal.SIGKILL)

    def _pid(self, key: int) -> int | None:
        return next((pid for pid, its in self._running.items() if its == key), None)

    def _say(self, message: dict[str, object]) -> None:
        try:
            self._sock.send(json.dumps(message).encode())
        except (BrokenPipeError, ConnectionResetError):
            self._ending = True


def _list(value: object) -> list[tuple[object, object]]:
    return value if isinstance(value, list) else []


def _signal_group(pid: int, number: int) -> None:
    """Signal the process group of a command; the leader is not reaped yet, so the number is still its own."""
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return


def _end_all(deadline: float) -> None:
    """Kill all descendants until there is none."""
    while time.monotonic() < deadline:
        pids = _descendants(os.getpid())
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)
        while _reaped():
            continue


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _descendants(root: int) -> set[int]:
    """Return the PIDs below `root`, from the parents in /proc/PID/stat."""
    parents: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                raw = Path(entry.path, "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(entry.name)] = int(raw[raw.rindex(")") + 2 :].split()[1])
    found: set[int] = set()
    fresh = {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


if __name__ == "__main__":
    main()
