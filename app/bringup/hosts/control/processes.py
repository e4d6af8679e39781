"""Looking at the processes of a host, and signalling them by identity: PID and start time in one shell command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process
from bringup.core.redact import mask
from bringup.core.sanitize import clean
from bringup.hosts.base import Host
from bringup.hosts.shipped import read_script, with_arguments

LIMIT = 4 << 20
"""Bytes of a process list: some 80 000 processes."""
TIMEOUT = 20.0
TITLE_LIMIT = 4096
"""Bytes of a command line that describe.sh tells."""
Signal = Literal["OWN", "TERM", "INT", "KILL"]
"""How a server is stopped: by its launcher's own command, or by a signal to the launcher."""
Fate = Literal["sent", "gone", "reused", "denied"]
Killed = tuple[Mapping[int, Fate], tuple[Process, ...]]
"""What came of SIGKILL by PID, and what was ended with it that was not known before."""
_ROW = re.compile(rb"(\d+) (\d+) (\d+) (\d+) (\d+) (\S)")


@dataclass(frozen=True, slots=True)
class Row:
    """The numbers of a process."""

    pid: int
    ppid: int
    pgid: int
    sid: int
    start: int
    """Clock ticks since boot."""
    state: str

    @property
    def ended(self) -> bool:
        """It does not run any more, and only its parent has not asked how it ended."""
        return self.state in "ZX"


Identity = tuple[int, int]
"""PID and start time."""


def script(name: str, *arguments: object) -> str:
    """Return one of the scripts beside this module, for these arguments, together with `identify`."""
    asked = with_arguments(f"control/{name}", *(str(word) for word in arguments))
    return f"{read_script('control/identify.sh')}\n{asked}"


def read_identity(text: str) -> Identity | None:
    """Return what a script wrote as PID:START; None where it is no such pair."""
    pid, _, start = text.partition(":")
    return (int(pid), int(start)) if pid.isdecimal() and start.isdecimal() else None


async def list_processes(host: Host, pids: Sequence[int] = ()) -> dict[int, Row]:
    """Return the numbers of every process by PID, or of those among `pids` that exist."""
    done = await host.run(script("list.sh", *pids), timeout=TIMEOUT, limit=LIMIT)
    found = (_ROW.fullmatch(line) for line in done.stdout.splitlines())
    rows = [_row(row) for row in found if row]
    if not rows and not pids:
        raise ChannelRefused(
            f"{host.name} shows no processes: {done.stderr.decode('utf-8', 'replace').strip() or '/proc is empty'}.",
            "Servers can be stopped on Linux hosts with /proc only.",
            reason="unsupported",
        )
    return {row.pid: row for row in rows}


async def describe(host: Host, rows: Iterable[Row]) -> tuple[Process, ...]:
    """Return processes with user, name and title; those that ended since, or are others now, are left out."""
    wanted = {(row.pid, row.start) for row in rows}
    if not wanted:
        return ()
    done = await host.run(script("describe.sh", *(pid for pid, _ in sorted(wanted))), timeout=TIMEOUT, limit=LIMIT)
    found = parse_descriptions(done.stdout)
    return tuple(process for process in found if (process.pid, process.start) in wanted)


def parse_descriptions(data: bytes) -> list[Process]:
    """Return the processes in what describe.sh printed."""
    lines = data.split(b"\n")
    found = []
    for numbers, name, title in zip(lines[::3], lines[1::3], lines[2::3], strict=False):
        row = _ROW.match(numbers, 2)
        if row is None:
            continue
        known, comm = _row(row), clean(name[2:])
        found.append(
            Process(
                pid=known.pid,
                ppid=known.ppid,
                start=known.start,
                title=_title(title[2:]) or f"[{comm}]",
                comm=comm,
                pgid=known.pgid,
                sid=known.sid,
                user=clean(numbers[row.end() + 1 :]),
                state=known.state,
            )
        )
    return found


def title_of(argv: Sequence[str]) -> str:
    """Return the title that a process with this command line has in a description."""
    line = " ".join(argv).replace("\n", " ")
    return _title(line.encode("utf-8", "surrogateescape")[:TITLE_LIMIT])


def _title(line: bytes) -> str:
    return mask(clean(line).strip())


def _row(found: re.Match[bytes]) -> Row:
    pid, ppid, pgid, sid, start = (int(number) for number in found.groups()[:5])
    return Row(pid, ppid, pgid, sid, start, found[6].decode("ascii", "replace"))


async def signal(host: Host, processes: Sequence[Process], name: Signal) -> Mapping[int, Fate]:
    """Signal processes; return by PID what came of it.

    "gone" has ended, "reused" is another process by now and was left alone, "denied" belongs to somebody else.
    """
    pairs = (f"{process.pid}:{process.start}" for process in processes if process.pid > 1)
    done = await host.run(script("signal.sh", name, *pairs), timeout=TIMEOUT, limit=LIMIT)
    return _fates(done.stdout)


async def kill(host: Host, processes: Sequence[Process], apart: Iterable[Identity] = ()) -> Killed:
    """End processes with all that they are just starting, but for what is `apart`; return their fates, and the latter.

    They are stopped first, so that nothing is started between the look and SIGKILL.
    """
    pairs = [f"{process.pid}:{process.start}" for process in processes if process.pid > 1]
    others = (f"{pid}:{start}" for pid, start in apart)
    functions = f"describe() {{\n{read_script('control/describe.sh')}\n}}"
    asked = with_arguments("control/kill.sh", *pairs, "/", *others)
    done = await host.run(f"{read_script('control/identify.sh')}\n{functions}\n{asked}", timeout=TIMEOUT, limit=LIMIT)
    told, _, found = done.stdout.partition(b"found\n")
    return _fates(told), tuple(parse_descriptions(found))


def _fates(told: bytes) -> dict[int, Fate]:
    """Return what came of a signal, by PID."""
    fates: dict[int, Fate] = {}
    for line in told.decode("ascii", "replace").splitlines():
        pid, _, fate = line.partition(" ")
        if pid.isdigit() and fate in get_args(Fate):
            fates[int(pid)] = cast(Fate, fate)
    return fates


async def port_user(host: Host, port: int) -> str:
    """Return who listens on a port of the host, "" where nobody does."""
    done = await host.run(script("listener.sh", port), limit=4096)
    return done.stdout.decode("utf-8", "replace").partition("\n")[0]
