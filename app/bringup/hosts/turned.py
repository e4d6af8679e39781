"""Where a log goes on when it is not what it was: in files rotated since, and then in what the path names now."""

from __future__ import annotations

from typing import Literal

from bringup.core.errors import ChannelRefused
from bringup.hosts.base import FileLook, Host, OpenFile
from bringup.hosts.chunk import How, Rest
from bringup.hosts.position import Position
from bringup.hosts.renamed import find_renamed, rotated_since

Same = Literal["same", "other", "unknown"]


def is_same(position: Position, look: FileLook) -> Same:
    """Tell whether a look is of the file that was read, by device and inode; SFTP tells neither."""
    if not position.node or not look.node:
        return "unknown"
    return "same" if position.node == look.node else "other"


def how_anew(position: Position, look: FileLook, same: Same) -> How:
    """Return the word for a log that begins again: only of the same file is it known that it was truncated."""
    if same == "other":
        return "rotated"
    return "truncated" if same == "same" and look.size < position.offset else "replaced"


class Ahead:
    """What is read after the file that is open now, in order; all of it is looked for once for each turn of the log."""

    def __init__(self, host: Host, path: str) -> None:
        self._host = host
        self._path = path
        self.next: OpenFile | None = None
        """What the path names now, while the file that it named before may still be written to."""
        self.begun = False
        """There is something in it."""
        self.is_old = False
        """What is open is not what the path names, whatever its own name is."""
        self.how: How = "rotated"
        """What became of the log when `next` began."""
        self.rest: Rest = ""
        """What is known of what was written before `next`."""
        self._between: list[OpenFile] = []
        self._searched = False

    @property
    def is_pending(self) -> bool:
        """There is more to be read than the file that is open."""
        return self.begun or bool(self._between)

    async def renamed(self, position: Position, now: OpenFile | None, how: How) -> OpenFile | None:
        """Return the file beside the path that goes on from a position; `now` is read after it."""
        found = await find_renamed(self._host, self._path, position)
        if found is None:
            return None
        self.next, self.is_old, self.how, self.rest = now, True, how, "read"
        await self._open_between(found.name)
        return found.file

    async def search(self, position: Position) -> None:
        """Look for what was rotated since the file that is open, which is at its end at a position."""
        if self._searched:
            return
        self._searched = True
        found = await find_renamed(self._host, self._path, position)
        if found is not None:
            await found.file.close()
            await self._open_between(found.name)

    async def _open_between(self, name: str) -> None:
        self._searched = True
        names, complete = await rotated_since(self._host, self._path, name)
        for between in names:
            try:
                self._between.append(await self._host.open(between))
            except ChannelRefused:
                complete = False
        self.is_old = self.is_old or bool(self._between)
        if not complete:
            self.rest = "between"

    async def take_between(self) -> tuple[OpenFile, Position] | None:
        """Return the next file that was rotated meanwhile, and where it begins."""
        while self._between:
            file = self._between.pop(0)
            try:
                look = await file.look(0, 1)
            except ChannelRefused:
                look = None
            if look is not None and look.data:
                # With the head, reading goes on in this file even if the connection is lost before its first byte.
                return file, Position(0, look.head, node=look.node)
            self.rest = self.rest if look is not None else "between"
            await file.close()
        return None

    def take_next(self) -> OpenFile | None:
        """Return what the path names now; from here on nothing is ahead of it."""
        file, self.next = self.next, None
        self._forget()
        return file

    async def drop_next(self, *, only_if: bool = True) -> None:
        """Let go of what the path named, where it names something else."""
        if not only_if:
            return
        file, self.next, self.begun = self.next, None, False
        if file is not None:
            await file.close()

    async def close(self) -> None:
        """Let go of all of it."""
        await self.drop_next()
        between, self._between = self._between, []
        for file in between:
            await file.close()
        self._forget()

    def _forget(self) -> None:
        self.begun, self.is_old, self._searched, self.how, self.rest = False, False, False, "rotated", ""
