"""Where recordings lie in the data folder, how they are called, and how those made by themselves are kept few."""

from __future__ import annotations

import contextlib
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bringup.core import switches
from bringup.recordings.locks import is_held

FOLDER = "recordings"
"""Within the data folder."""
SWITCH = "BRINGUP_RECORD"
"""Environment variable that turns the recording of every start off with "0"."""
SUFFIX = ".bringup"
OWN = ".auto.bringup"
"""Ends the names of those that nobody asked for: only they are ever removed."""
MIB = 1 << 20
STEP = MIB
"""Bytes by which a recording grows before room is made for more of it."""
_ODD = re.compile(r"[^A-Za-z0-9._@-]+")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Keeping:
    """Whether and where starts are kept, and how much room they may take (bytes)."""

    folder: Path
    always: bool = True
    """Every start that is watched is kept, until the room is needed for newer ones."""
    most: int = 64 * MIB
    """Of one recording."""
    total: int = 500 * MIB
    """Of all that were made by themselves."""

    def path(self, target: str, at: float, *, own: bool) -> Path:
        """Return a name for a recording that nobody has taken, from the target and the time (epoch seconds)."""
        stem = f"{plain_name(target)}-{datetime.fromtimestamp(at, UTC):%Y%m%d-%H%M%S}"
        suffix = OWN if own else SUFFIX
        found, number = self.folder / f"{stem}{suffix}", 1
        while found.exists():
            number += 1
            found = self.folder / f"{stem}-{number}{suffix}"
        return found


def plain_name(target: str) -> str:
    """Return what stands for a host or target in the name of a file."""
    return _ODD.sub("-", target).strip("-.")[:_LONGEST] or "start"


def one_each(path: Path, hosts: Sequence[str]) -> tuple[Path, ...]:
    """Return a file for each of several hosts: start.bringup becomes start.node1.bringup; one host has it as it is."""
    if len(hosts) == 1:
        return (path,)
    names: list[str] = []
    for host in hosts:
        name, number = plain_name(host), 1
        while name in names:
            number += 1
            name = f"{plain_name(host)}-{number}"
        names.append(name)
    return tuple(path.with_name(f"{path.stem}.{name}{path.suffix}") for name in names)


def is_off(environ: Mapping[str, str]) -> bool:
    """Say whether the user wants no start to be recorded by itself."""
    return switches.is_off(environ, SWITCH)


def make_room(keeping: Keeping) -> None:
    """Remove the oldest recordings that nobody asked for, until one has room to grow by `STEP`; one that grows stays.

    What cannot be removed stays, and counts. To be called again whenever one has grown so much.
    """
    found = _own(keeping.folder)
    used = sum(size for _, size, _ in found)
    # A share of a small total, so that it is not all room for what is to come.
    room = min(STEP, keeping.most, keeping.total // 8)
    for _, size, path in found:
        if used + room <= keeping.total:
            return
        if not is_held(path):
            with contextlib.suppress(OSError):
                path.unlink()
                used -= size


def _own(folder: Path) -> list[tuple[float, int, Path]]:
    """Return (time of the last byte, bytes, path) of the recordings made by themselves, the oldest first."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.name.endswith(OWN):
                with contextlib.suppress(OSError):
                    known = path.lstat()
                    if stat.S_ISREG(known.st_mode):
                        found.append((known.st_mtime, known.st_size, path))
    return sorted(found)
