"""What is left to be read of a file that was put aside: to its end, once."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import Host
from bringup.hosts.chunk import Chunk
from bringup.hosts.position import Position
from bringup.hosts.turns import SLICE, give_way


async def rest_of(host: Host, path: str, position: Position) -> AsyncGenerator[tuple[Chunk, Position], None]:
    """Yield what stands in a file behind a position, each piece with the position after it.

    Raises ChannelRefused where the file cannot be had or is not the one that was read, and ConnectionLost.
    """
    file = await host.open(path)
    try:
        while True:
            look = await file.look(position.asked, SLICE + len(position.before))
            if not position.continues_in(look):
                raise ChannelRefused(f"{path} is not the file that was read before.", reason="missing")
            data = look.data[len(position.before) :]
            if not data:
                return
            chunk = Chunk(data, position.offset, backlog=True)
            position = position.after(data, look.head, look.node)
            yield chunk, position
            await give_way()
    finally:
        await file.close()
