"""The rows of the probe about processes, put together to whole samples of a tree."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bringup.core.events import Process, ProcessesSeen
from bringup.core.redact import mask
from bringup.core.sanitize import clean
from bringup.hosts.denied import log_in

MOST_PROCESSES = 4096
MOST_FILES = 8192
"""Checkpoint files of one process."""
MOST_USERS = 1024
_DELETED = " (deleted)"
_CHECKPOINT = re.compile(r"\.(?:safetensors|bin|pt|pth|gguf)$|/blobs/[0-9a-f]{40,}$|/snapshots/")
_KIB = 1024


@dataclass(slots=True)
class _Known:
    """What is known of one process; rows tell only what changed."""

    process: Process
    io: bool
    """Its counters of reading could be read."""
    files: set[str] | None = None
    """Checkpoint files mapped now; None where the maps were not read or may not be."""
    denied: bool = False
    fresh: bool = True
    """Something changed since `process` was made."""


class Samples:
    """Collects rows between the beginning and the end of a sample."""

    def __init__(self) -> None:
        self.ticks = 100
        self.at = 0.0
        """Time of the sample that is being read."""
        self.denied = ""
        """A sentence, once the maps of a process turned out to be closed to us."""
        self._page = 4096
        self._known: dict[int, _Known] = {}
        self._titles: dict[int, str] = {}
        self._users: dict[str, str] = {}
        self._seen: dict[int, None] = {}

    def units(self, ticks: int, page: int) -> None:
        """Set the clock ticks in a second and the bytes of a page."""
        if ticks > 0 and page > 0:
            self.ticks, self._page = ticks, page

    @property
    def pids(self) -> frozenset[int]:
        """Processes of the newest sample."""
        return frozenset(self._known)

    def title(self, pid: int) -> str:
        """Return the command line of a process of the tree; empty where it is not known."""
        return self._titles.get(pid, "")

    def begin(self, at: float) -> None:
        """Begin a sample taken at `at`."""
        self.at = at
        self._seen = {}

    def take(self, kind: bytes, fields: list[bytes]) -> None:
        """Take a row of a sample; raises ValueError, IndexError or KeyError for one that makes no sense."""
        match kind:
            case b"P":
                self._process(fields)
            case b"S":
                pids = [int(word) for word in fields[0].split()]
                self._seen.update((pid, None) for pid in pids if pid in self._known)
            case b"T":
                self._title(int(fields[0]), mask(clean(fields[1])))
            case b"U" if len(self._users) < MOST_USERS:
                self._users[clean(fields[0])] = clean(fields[1])
            case b"M":
                self._map(int(fields[0]), fields[1], clean(fields[2]) if len(fields) > 2 else "")
            case _:
                raise ValueError(kind)

    def end(self, count: int, root: int) -> ProcessesSeen:
        """End the sample; raises ValueError where rows of it are missing."""
        if len(self._seen) != count:
            raise ValueError(count)
        for pid in [pid for pid in self._known if pid not in self._seen]:
            del self._known[pid]
            self._titles.pop(pid, None)
        for known in self._known.values():
            if known.fresh:
                self._finish(known)
        return ProcessesSeen(at=self.at, root=root, processes=tuple(self._known[pid].process for pid in self._seen))

    def _process(self, fields: list[bytes]) -> None:
        numbers, rchar, read_bytes, uid, wchan, comm = fields[:6]
        pid, state, *rest = numbers.split()
        ppid, pgid, sid, minflt, majflt, utime, stime, threads, start, rss = map(int, rest)
        process = Process(
            pid=int(pid),
            ppid=ppid,
            start=start,
            title="",
            comm=clean(comm),
            pgid=pgid,
            sid=sid,
            user=self._users.get(clean(uid)) or clean(uid),
            state=clean(state)[:1],
            wchan="" if wchan == b"0" else clean(wchan),
            threads=threads,
            cpu_s=(utime + stime) / self.ticks,
            minflt=minflt,
            majflt=majflt,
            rchar=int(rchar or 0),
            read_bytes=int(read_bytes or 0),
            rss_kb=rss * self._page // _KIB,
        )
        self._remember(process, io=bool(rchar))

    def _remember(self, process: Process, *, io: bool) -> None:
        known = self._known.get(process.pid)
        if known is None and len(self._known) >= MOST_PROCESSES:
            raise ValueError("too many processes")
        if known is None or known.process.start != process.start:
            self._titles.pop(process.pid, None)
            self._known[process.pid] = _Known(process, io)
        else:
            known.process, known.io, known.fresh = process, io, True
        self._seen[process.pid] = None

    def _title(self, pid: int, title: str) -> None:
        self._known[pid].fresh = True
        self._titles[pid] = title

    def _map(self, pid: int, change: bytes, path: str) -> None:
        known = self._known[pid]
        known.fresh = True
        path = path.removesuffix(_DELETED)
        match change:
            case b"!":
                known.files, known.denied = None, True
            case b"=":
                known.files, known.denied = set(), False
            case b"+" if known.files is not None and len(known.files) < MOST_FILES:
                if _CHECKPOINT.search(path):
                    known.files.add(path)
            case b"-" if known.files is not None:
                known.files.discard(path)
            case _:
                raise ValueError(change)

    def _finish(self, known: _Known) -> None:
        process = known.process
        files = None if known.files is None else tuple(sorted(known.files))
        title = self._titles.get(process.pid) or f"[{process.comm}]"
        known.process = replace(process, title=title, shards=files)
        known.fresh = False
        # A process that is ending has no maps either, but what it has read can still be seen.
        if known.denied and not known.io and process.state not in ("Z", "X"):
            self.denied = (
                f"The memory maps of {process.user}'s processes are closed to this login: which shard a rank reads "
                f"cannot be seen. {log_in(process.user)}, or let this login use sudo."
            )
