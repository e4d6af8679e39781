"""The room that is left on a host for what is written to a log: a disk that is full lets it stand still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bringup.hosts.base import Host
from bringup.hosts.shipped import with_arguments

TIMEOUT = 10.0
"""Seconds: df waits for a network file system that hangs."""
_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Room:
    """What is left of one file system, in bytes."""

    free: int
    total: int
    mount: str


async def room_for(host: Host, paths: Sequence[str]) -> tuple[Room, ...]:
    """Return the room for each of the files that are there; raises ChannelRefused and ConnectionLost."""
    done = await host.run(with_arguments("room/room.sh", *paths), timeout=TIMEOUT, limit=_LIMIT)
    rooms = []
    for row in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        free, _, rest = row.partition(" ")
        total, _, mount = rest.partition(" ")
        # A file system that has no size (/proc) has no room either.
        if free.isdigit() and total.isdigit() and int(total):
            rooms.append(Room(int(free), int(total), mount))
    return tuple(rooms)
