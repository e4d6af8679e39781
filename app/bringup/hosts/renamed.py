"""Finding a log again under another name: rotated while nobody looked, it still has what was written last."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host, OpenFile
from bringup.hosts.position import Position

MOST = 8
"""Files that are looked into, the newest first."""
MOST_BETWEEN = 4
"""Files that are read between the one that was left and the present one; each of them is kept open."""
_LISTED = 64
# Rotated logs keep the name's beginning (logrotate(8): log.1, log-20260302); names with a newline are passed over.
_LIST = 'ls -td -- "$1"?* 2>/dev/null | head -n {most}'
_NUMBER = re.compile(r"\.(\d{1,5})(\.\w{1,4})?")
_DATE = re.compile(r"([-.]\d{4}-?\d\d-?\d\d[-T.:_\d]*)(\.\w{1,4})?")


@dataclass(frozen=True, slots=True)
class Renamed:
    """The file that goes on, opened, and its name."""

    file: OpenFile
    name: str


async def find_renamed(host: Host, path: str, position: Position) -> Renamed | None:
    """Return the file beside `path` that goes on from a position, opened; None where there is none.

    Raises ConnectionLost.
    """
    if not (position.before.strip(b"\0") or (position.offset == 0 and position.head)):
        return None
    for name in (await _beside(host, path))[:MOST]:
        found = await _continuation(host, name, position)
        if found is not None:
            return Renamed(found, name)
    return None


async def rotated_since(host: Host, path: str, name: str) -> tuple[list[str], bool]:
    """Return what was rotated from `path` after the file `name` was, the oldest first; False where some are missing.

    Newer is what both its name and its time say to be: log.1 after log.2, log-20260302 after log-20260301.
    """
    names = await _beside(host, path)
    if name not in names:
        return [], True
    place = names.index(name)
    mine = name[len(path) :]
    newer = [other[len(path) :] for other in names[:place]]
    if _NUMBER.fullmatch(mine):
        found, complete = _by_number(mine, newer, [other[len(path) :] for other in names[place:]])
    else:
        found, complete = _by_date(mine, newer)
    return [path + suffix for suffix in found[:MOST_BETWEEN]], complete and len(found) <= MOST_BETWEEN


def _by_number(mine: str, newer: list[str], older: list[str]) -> tuple[list[str], bool]:
    """Return those with a lower number; all numbers down to 1 should be there, and none of them compressed."""
    number = _number(mine)
    plain = {_number(suffix): suffix for suffix in newer if _is_plain(_NUMBER, suffix)}
    found = [plain[one] for one in sorted(plain, reverse=True) if one < number]
    if any(_NUMBER.fullmatch(suffix) and _number(suffix) < number for suffix in older):
        return found, True  # numbered the other way round, or no rotation at all
    return found, all(one in plain for one in range(1, number))


def _by_date(mine: str, newer: list[str]) -> tuple[list[str], bool]:
    """Return those with a later date that are written alike; one that is compressed is missing."""
    shape = re.sub(r"\d", "0", mine)
    later = [suffix for suffix in newer if _DATE.fullmatch(suffix) and suffix > mine] if _DATE.fullmatch(mine) else []
    found = sorted(suffix for suffix in later if re.sub(r"\d", "0", suffix) == shape)
    return found, len(found) == len(later)


def _number(suffix: str) -> int:
    found = _NUMBER.fullmatch(suffix)
    return int(found[1]) if found else 0


def _is_plain(pattern: re.Pattern[str], suffix: str) -> bool:
    found = pattern.fullmatch(suffix)
    return found is not None and not found[2]


async def _beside(host: Host, path: str) -> list[str]:
    """Return the files whose names begin with the path's, the newest first."""
    try:
        done = await host.run(f"set -- {shlex.quote(path)}\n{_LIST.format(most=_LISTED)}")
    except ChannelRefused:
        # A host that runs no command now can still be read from: what is there under the path is read.
        return []
    names = done.stdout.decode("utf-8", "surrogateescape").splitlines()[:_LISTED]
    return [name for name in names if name.startswith(path)]


async def continues(file: OpenFile, position: Position) -> bool:
    """Tell whether a file is the one that was read, or has the same bytes up to there."""
    look = await file.look(position.asked, max(1, len(position.before)))
    return position.continues_in(look)


async def _continuation(host: Host, name: str, position: Position) -> OpenFile | None:
    try:
        file = await host.open(name)
    except ChannelRefused:
        return None
    try:
        if await continues(file, position):
            return file
    except ChannelRefused:
        pass
    await file.close()
    return None
