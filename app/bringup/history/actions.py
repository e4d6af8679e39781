"""What an operator did to servers: one line of JSON for the begin of an action and one for its end, never changed.

Two lines, so that an action is known even where the console that did it was killed in the middle.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from bringup.core.redact import mask
from bringup.core.sanitize import clean_text
from bringup.recordings.private import make_private

FILE = "actions.jsonl"
BEFORE = "actions.jsonl.1"
"""The lines before those of the newest file; what is older is gone."""
LARGEST = 1 << 20
"""Bytes of one of the two files."""
Outcome = Literal["begun", "done", "failed", "cut off", "broken off"]
"""*begun* stands where no end was ever written; *cut off* by a lost connection; *broken off* by a cancel or defect."""
OUTCOMES: tuple[Outcome, ...] = ("begun", "done", "failed", "cut off", "broken off")
_LATEST = 1e11
"""Epoch seconds beyond which no calendar of Python reaches."""
_LONGEST = 600
"""Letters of a text, with the mark of one that is cut."""
_MOST_PIDS = 300


@dataclass(frozen=True, slots=True)
class ActionRow:
    """One action, as far as it is known."""

    id: str
    """The same in the line of its begin and that of its end."""
    at: float
    """Epoch seconds on the operator's machine at which it began."""
    who: str
    action: str
    """stop, restart, launch, clear, resume or discard."""
    target: str
    """The host as the operator named it."""
    node: str = ""
    """As the host names itself."""
    what: str = ""
    """The command line that it was about, secrets masked."""
    way: str = ""
    """The signal or the launcher's own command ("OWN") that was chosen; empty where there is no choice."""
    pids: tuple[int, ...] = ()
    """Processes that it was about to touch."""
    outcome: Outcome = "begun"
    said: str = ""
    """What came of it, as a sentence."""
    seconds: float = 0.0
    new_pid: int = 0
    """The launcher that was started; 0 where none was."""

    def harmless(self) -> ActionRow:
        """Return it without secrets and escape sequences, and of a bounded length."""
        texts = ("who", "target", "node", "what", "way", "said")
        kept = {name: _bounded(mask(clean_text(getattr(self, name)))) for name in texts}
        return replace(self, **kept, pids=self.pids[:_MOST_PIDS])  # type: ignore[arg-type]  # names of texts


def _bounded(text: str) -> str:
    """Return a text, or its beginning and how many letters are missing: a command that is cut is none to run."""
    if len(text) <= _LONGEST:
        return text
    room = _LONGEST - len(f"… ({len(text)} more)")
    return f"{text[:room]}… ({len(text) - room} more)"


class ActionLog:
    """The log of a data folder. Several processes and threads may write to it at once."""

    def __init__(self, folder: Path, largest: int = LARGEST) -> None:
        self._folder = folder
        self._largest = largest
        self._turn = threading.Lock()

    def write(self, row: ActionRow) -> None:
        """Append a line; may block. Raises OSError where it cannot be written."""
        line = json.dumps({"schema": 1, **asdict(row.harmless())}).encode() + b"\n"
        with self._turn:
            make_private(self._folder)
            while not self._appended(line):
                pass

    def read(self, target: str = "", limit: int = 20) -> list[ActionRow]:
        """Return the newest actions, oldest first, of one host or of all; lines that cannot be read are passed over.

        Raises OSError.
        """
        found: dict[str, ActionRow] = {}
        for path in (self._folder / BEFORE, self._folder / FILE):
            with contextlib.suppress(FileNotFoundError):
                for line in path.read_bytes().splitlines():
                    row = read_line(line)
                    if row is not None and (row.outcome != "begun" or row.id not in found):
                        found[row.id] = row
        rows = [row for row in found.values() if not target or target in (row.target, row.node)]
        return sorted(rows, key=lambda row: row.at)[-limit:]

    def _appended(self, line: bytes) -> bool:
        """Append a line, or make room for it first and return that it is still to be written."""
        with self._alone() as descriptor:
            if not self._is_newest(descriptor):
                return False
            size = os.fstat(descriptor).st_size
            if size and size + len(line) > self._largest:
                (self._folder / FILE).rename(self._folder / BEFORE)
                return False
            _append(descriptor, size, line)
            return True

    def _is_newest(self, descriptor: int) -> bool:
        """Say whether it is still the newest file: another process may have made it the older one meanwhile."""
        opened = os.fstat(descriptor)
        try:
            newest = (self._folder / FILE).lstat()
        except FileNotFoundError:
            return False
        return (opened.st_dev, opened.st_ino) == (newest.st_dev, newest.st_ino)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[int]:
        """Open the file for its owner only, and keep other writers out of it meanwhile."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._folder / FILE, flags, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            # A file system without locks is no reason not to write: one line is one write.
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def _append(descriptor: int, size: int, line: bytes) -> None:
    """Append a whole line or nothing of it; raises OSError.

    What a crash or a full disk has left of a line before is ended first, so that it spoils no other one.
    """
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line
    if os.write(descriptor, line) != len(line):
        os.ftruncate(descriptor, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_line(line: bytes) -> ActionRow | None:
    """Return what a line holds; None where it is none."""
    try:
        row = json.loads(line)
        pids = tuple(int(pid) for pid in row["pids"])
        texts = {name: str(row[name]) for name in ("id", "who", "action", "target", "node", "what", "way", "said")}
        outcome = next((known for known in OUTCOMES if known == row["outcome"]), OUTCOMES[0])
        at, seconds, new_pid = float(row["at"]), float(row["seconds"]), int(row["new_pid"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    if not 0 <= at < _LATEST or not 0 <= seconds < _LATEST:
        return None
    return ActionRow(**texts, at=at, pids=pids, outcome=outcome, seconds=seconds, new_pid=new_pid).harmless()
