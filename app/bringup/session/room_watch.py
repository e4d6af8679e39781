"""Asks now and then whether the disk of the log is full: then it stands still, and what the server says is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogRoom
from bringup.hosts.base import Host
from bringup.hosts.room import room_for
from bringup.session.clock import HostClock
from bringup.session.marks import room_of
from bringup.session.picture import Picture

LOOK = 1.0
"""Seconds between two looks at whether it is time to ask."""
SILENT = 5.0
"""Seconds of silence after which the disk may be the reason."""
AGAIN = 5.0
"""Seconds between two questions while the disk is full, or when the log has just fallen silent."""
CALM = 60.0
"""Seconds between two questions otherwise."""
FULL = 16 << 10
"""Bytes that are left on a disk that is full: a write of a line may need a block or two."""


class RoomWatch:
    """The disks of the logs of one server."""

    def __init__(self, host: Host, paths: Sequence[str], picture: Picture, clock: HostClock) -> None:
        self._host = host
        self._paths = tuple(paths)
        self._picture = picture
        self._clock = clock
        self._asked_at: float | None = None

    async def run(self) -> None:
        """Ask until cancelled, or until the host cannot tell; raises ConnectionLost."""
        while self._paths:
            now = self._clock.now()
            if self._is_due(now):
                self._asked_at = now
                try:
                    await self._ask()
                except ChannelRefused as refused:
                    if refused.reason != "timeout":
                        return  # nothing rests on it: a log that cannot grow is silent all the same
            await asyncio.sleep(LOOK)

    def _is_due(self, now: float) -> bool:
        log = self._picture.state.log
        if self._asked_at is None:
            return True
        fell_silent = log.grew_at is not None and log.grew_at > self._asked_at - SILENT and now > log.grew_at + SILENT
        return now > self._asked_at + (AGAIN if log.full or fell_silent else CALM)

    async def _ask(self) -> None:
        rooms = await room_for(self._host, self._paths)
        if not rooms:
            return
        least, before = min(rooms, key=lambda room: room.free), self._picture.state.log.full
        full = least.mount if least.free < FULL else ""
        now, state = self._clock.now(), self._picture.state
        self._picture.apply([LogRoom(at=now, full=full, free=least.free)])
        if full != before:
            self._picture.add_lines([room_of(full or before, now, state.utc_offset, full=bool(full))])
