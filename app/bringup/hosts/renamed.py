"""Finding a log again under another name: rotated while nobody looked, it still has what was written last."""

from __future__ import annotations

import shlex

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host, OpenFile
from bringup.hosts.position import Position

MOST = 8
"""Files that are looked into, the newest first."""
# Rotated logs keep the name's beginning (logrotate(8): log.1, log-20260302); names with a newline are passed over.
_LIST = 'ls -td -- "$1"?* 2>/dev/null | head -n {most}'


async def find_renamed(host: Host, path: str, position: Position) -> OpenFile | None:
    """Return the file beside `path` that goes on from a position, opened; None where there is none.

    Raises ConnectionLost.
    """
    if not position.before:
        return None
    try:
        done = await host.run(f"set -- {shlex.quote(path)}\n{_LIST.format(most=MOST)}")
    except ChannelRefused:
        # A host that runs no command now can still be read from: what is there under the path is read.
        return None
    for name in done.stdout.decode("utf-8", "surrogateescape").splitlines()[:MOST]:
        found = await _continuation(host, name, position)
        if found is not None:
            return found
    return None


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
