"""A start that is written while a real session watches it through a real sshd, and something goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loggen import sglang_chunks
from sshd import Sshd, start_sshd
from waiting import eventually

from bringup.engines import load_engines, load_wrappers
from bringup.engines.patience import load_policy
from bringup.hosts.base import Host
from bringup.hosts.ssh import SshHost
from bringup.recordings.encoder import Item, LogPiece, LogTurn
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target

PLAY = 0.8
"""Seconds in which a start of two minutes is written."""
PATIENCE = 60.0
KEEPALIVE = {"keepalive_interval": 0.4, "keepalive_count": 1}
"""Fast, so that a dead peer is found in 0.8 s instead of 20."""
LOGIN = 20.0
"""Seconds that a login may take: none of these tests measures it, and a busy machine needs more than the usual ones."""
SFTP = "Subsystem sftp /usr/lib/openssh/sftp-server"
PIECES = [data for _, data in sglang_chunks("0.5.9", draft=True, tp=8, shards=24, seed=7)]
TEXT = b"".join(PIECES)
YESTERDAY = [piece.replace(b"2026-03-02", b"2026-03-01") for piece in PIECES]
"""The same start a day earlier."""
_TIMES = frozenset({"steps", "dated", "floor", "read_rate", "cpu_rate"})
"""Fields that depend on when things were seen."""


@dataclass
class Writer:
    """The server's side: writes its log piece by piece through one descriptor, as a server does."""

    path: Path
    flags: int = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    written: int = 0
    """Pieces so far."""
    handle: int = -1
    pieces: list[bytes] = field(default_factory=lambda: PIECES)

    def open(self) -> None:
        """Open the path anew; what was open stays with its file until then."""
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = os.open(self.path, self.flags, 0o644)

    def write(self, data: bytes) -> None:
        """Write all of it."""
        assert os.write(self.handle, data) == len(data)

    def step(self) -> None:
        """Write the next piece."""
        self.write(self.pieces[self.written])
        self.written += 1

    def step_to_line_end(self) -> None:
        """Write on to the end of a line, so that a log that is parted here has no torn line."""
        while not self.pieces[self.written - 1].endswith(b"\n"):
            self.step()

    def close(self) -> None:
        os.close(self.handle)


@dataclass
class Run:
    """One watched start."""

    folder: Path
    server: Sshd
    writer: Writer
    session: Session
    taken: list[bytes | str] = field(default_factory=list)
    """What came from the log: bytes, and the names of its moves."""
    lines: list[bytes] = field(default_factory=list)
    injected: float = 0.0
    injecting: bool = False
    had: int = 0
    """Bytes that had been read when the fault was there."""
    noticed: float | None = None
    recovered: float | None = None
    told: list[str] = field(default_factory=list)
    """States of the connection."""
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    expected: bytes = TEXT
    """What must have been read in the end."""

    @property
    def got(self) -> bytes:
        return b"".join(item for item in self.taken if isinstance(item, bytes))

    @property
    def moves(self) -> list[str]:
        return [item for item in self.taken if isinstance(item, str)]

    def later(self, seconds: float, act: Callable[[], object]) -> None:
        """Do something after a while."""
        asyncio.get_running_loop().call_later(seconds, act)

    async def level(self, size: int) -> None:
        """Wait until this many bytes have been read."""
        await eventually(lambda: len(self.got) >= size, PATIENCE)

    def outcome(self) -> dict[str, Any]:
        """Return the final state without times."""
        state = self.session.state
        return {"attempt": timeless(state.attempt), "lines": state.log.lines, "phase": self.session.verdict().phase}


Fault = Callable[[Run], Awaitable[None]]


def timeless(value: Any) -> Any:
    """Return a value with all times taken out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        return {name: timeless(part) for name, part in fields.items() if name not in _TIMES}
    if isinstance(value, tuple):
        return [timeless(part) for part in value]
    return "time" if isinstance(value, float) else value


def knowledge() -> Knowledge:
    return Knowledge(load_engines(), load_wrappers(), load_policy())


async def plain_connect(server: Sshd, **changes: object) -> Host:
    return await SshHost.login("box", options=server.options(**{"connect_timeout": LOGIN, **KEEPALIVE, **changes}))


@contextlib.asynccontextmanager
async def watched(
    folder: Path,
    known: Knowledge,
    *config: str,
    connect: Callable[[Sshd], Awaitable[Host]] = plain_connect,
    flags: int = Writer.flags,
    pieces: list[bytes] = PIECES,
) -> AsyncIterator[Run]:
    """Begin to watch a log that has its first piece."""
    with start_sshd(folder / "server", *(config or (SFTP,))) as server:
        (folder / "log").mkdir(exist_ok=True)
        writer = Writer(folder / "log" / "server.log", flags, pieces=pieces)
        writer.open()
        writer.step()
        session = Session(lambda: connect(server), Target("box", log=str(writer.path), within=os.getpid()), known)
        run = Run(folder, server, writer, session)
        tap(run)
        await session.open()
        eye = asyncio.create_task(look_on(run))
        try:
            await run.level(len(pieces[0]))
            yield run
        finally:
            eye.cancel()
            await session.close()
            for cleanup in reversed(run.cleanups):
                cleanup()
            writer.close()


def tap(run: Run) -> None:
    """Take note of what the session takes from its logs."""
    picture = run.session._picture
    tapped = picture.tap

    def taking(item: Item) -> None:
        if isinstance(item, LogPiece):
            run.taken.append(item.data)
        elif isinstance(item, LogTurn):
            run.taken.append(item.moved.how)
        tapped(item)

    picture.tap = taking  # type: ignore[method-assign]


async def look_on(run: Run) -> None:
    """See what the connection does, and when."""
    while True:
        status = run.session.state.link.status
        if not run.told or run.told[-1] != status:
            run.told.append(status)
            now = time.monotonic()
            if run.injected and status != "up" and run.noticed is None:
                run.noticed = now - run.injected
        run.lines += run.session.take_lines()
        if run.injected and not run.injecting and run.recovered is None and len(run.got) > run.had and status == "up":
            run.recovered = time.monotonic() - run.injected
        await asyncio.sleep(0.01)


async def play(run: Run, fault: Fault | None = None, moment: float = 1.0) -> None:
    """Write the start; the fault happens when this share of it is written."""
    pause = PLAY / len(PIECES)
    at = max(1, min(len(PIECES) - 2, int(moment * len(PIECES))))
    while run.writer.written < len(PIECES):
        if fault is not None and run.writer.written >= at:
            run.injecting = True
            run.injected = time.monotonic()
            await fault(run)
            fault, run.injecting, run.had = None, False, len(run.got)
            continue
        run.writer.step()
        await asyncio.sleep(pause)


async def settle(run: Run, *, moves: bool = False) -> None:
    """Wait until all of it has been read over a connection that stands; then nothing more may come.

    With `moves`, the log was moved in a way that is always told of, and that is waited for, too: on a busy machine all
    may be read before the next look at the path.
    """
    await run.level(len(run.expected))
    if moves:
        await eventually(lambda: bool(run.moves), PATIENCE)
    await eventually(lambda: run.session.state.link.status == "up", PATIENCE)
    await asyncio.sleep(0.3)
    run.lines += run.session.take_lines()


async def undisturbed(folder: Path, known: Knowledge) -> Run:
    """Watch a start to which nothing happens."""
    async with watched(folder, known) as run:
        await play(run)
        await settle(run)
    assert run.got == TEXT
    return run


def moments(fault: str) -> list[float]:
    """Return when a fault happens, as shares of the start: three times in CI, more by hand, the same ones each time."""
    chance = random.Random(fault)
    return [chance.uniform(0.03, 0.92) for _ in range(int(os.environ.get("BRINGUP_FAULT_MOMENTS", "3")))]


async def at_each_moment(fault: str, one: Callable[[float], Awaitable[Run]]) -> list[Run]:
    """Let a fault happen at its moments, three watches side by side."""
    places = asyncio.Semaphore(3)

    async def placed(moment: float) -> Run:
        async with places:
            return await one(moment)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(placed(moment)) for moment in moments(fault)]
    return [task.result() for task in tasks]


def longest(runs: list[Run]) -> tuple[float | None, float | None]:
    """Return the longest time to notice and to recover, in seconds."""
    noticed = [run.noticed for run in runs if run.noticed is not None]
    recovered = [run.recovered for run in runs if run.recovered is not None]
    return max(noticed, default=None), max(recovered, default=None)
