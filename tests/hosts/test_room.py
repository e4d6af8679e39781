"""The room that is left for a log, on every kind of host."""

from __future__ import annotations

import shutil
from pathlib import Path

from bringup.hosts.base import Host
from bringup.hosts.room import room_for

SAME = 0.2
"""Others write to the same disk meanwhile."""


async def test_the_room_of_each_file_is_told(host: Host, tmp_path: Path) -> None:
    log = tmp_path / "it's a $(log).txt"
    log.write_text("a line\n")
    rooms = await room_for(host, [str(log), str(tmp_path / "nothing"), "/proc/self/status", str(tmp_path)])
    usage = shutil.disk_usage(tmp_path)
    assert len(rooms) == 2, "what is not there, and what has no size, has no room"
    for room in rooms:
        assert abs(room.total - usage.total) < SAME * usage.total
        assert room.free > (1 - SAME) * usage.free
        assert tmp_path.is_relative_to(room.mount)
