"""The processes of a recording, row by row, and the samples that a console would have taken of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bringup.core.events import Event, Process, ProcessesSeen, ServerGone
from bringup.core.ranks import labels_of_title

_FIELDS = {
    "ppid": "ppid",
    "sid": "sid",
    "comm": "comm",
    "state": "state",
    "threads": "threads",
    "cpu_s": "cpu_s",
    "minflt": "minflt",
    "majflt": "majflt",
    "wchan": "wchan",
    "rchar": "rchar",
    "read_bytes": "read_bytes",
}


class Tree:
    """What is alive below the launcher at a moment of the recording."""

    def __init__(self) -> None:
        self.root = 0
        self._known: dict[int, Process] = {}
        self._begun = False
        self._gone = False

    def see(self, row: Mapping[str, Any], t: float) -> None:
        """Take a row of one process; its title is cut short in such rows, so a longer one that is known stays."""
        pid = int(row["pid"])
        old = self._known.get(pid) or Process(pid=pid, ppid=0, start=round(t * 100), title="")
        values = {name: row[key] for key, name in _FIELDS.items() if row.get(key) is not None}
        title = str(row.get("cmd", ""))
        if title and not old.title.startswith(title):
            values["title"] = title
        if "rss_mb" in row:
            values["rss_kb"] = int(row["rss_mb"]) * 1024
        self._known[pid] = replace(old, **values)

    def rename(self, pid: int, title: str, comm: str) -> None:
        """Take the title that a process gave itself."""
        if pid in self._known and title:
            self._known[pid] = replace(self._known[pid], title=title, comm=comm or self._known[pid].comm)

    def rest(self, pid: int) -> None:
        """Note that a process has ended and waits for its parent."""
        if pid in self._known:
            self._known[pid] = replace(self._known[pid], state="Z")

    def forget(self, pid: int) -> None:
        """Note that a process is gone."""
        self._known.pop(pid, None)

    def gpu_of(self, pid: int) -> int | None:
        """Return the GPU of a rank's process on a machine with one GPU a rank, or None where it cannot be told."""
        process = self._known.get(pid)
        labels = dict(labels_of_title(process.title) or ()) if process is not None else {}
        return labels.get("tp")

    def sample(self, at: float) -> Iterator[Event]:
        """Return what one look at the tree shows, and the end of the launcher when it is first seen to be gone.

        A recording may hold no processes at all: then there is nothing to look at.
        """
        self._begun = self._begun or self.root in self._known
        if self._gone or not self._begun:
            return
        yield ProcessesSeen(at=at, root=self.root, processes=tuple(self._known[pid] for pid in sorted(self._known)))
        launcher = self._known.get(self.root)
        if launcher is None or launcher.state == "Z":
            self._gone = True
            alive = (process.pid for process in self._known.values() if process.state != "Z")
            yield ServerGone(at=at, pid=self.root, orphans=tuple(sorted(alive)))
