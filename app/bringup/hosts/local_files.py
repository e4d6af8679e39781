"""Files of this machine that stay open while they are followed."""

from __future__ import annotations

import _thread
import asyncio
import os
import stat
import threading
from collections.abc import Callable
from typing import TypeVar

from bringup.core.errors import ChannelRefused, Reason
from bringup.hosts.base import FileLook
from bringup.hosts.scripts import wire

HEAD = 64
Result = TypeVar("Result")
REASONS: tuple[tuple[type[OSError], Reason, str], ...] = (
    (FileNotFoundError, "missing", "does not exist"),
    (NotADirectoryError, "missing", "does not exist"),
    (PermissionError, "denied", "may not be read by this user"),
)


class LocalFile:
    """A file of this machine; paths are compared by inode."""

    def __init__(self, path: str, handle: int) -> None:
        self._path = path
        self._handle = handle

    @classmethod
    async def open(cls, path: str) -> LocalFile:
        """Open a regular file; in a thread, because its file system may be a network one."""
        try:
            # Without O_NONBLOCK, opening a pipe would wait for a writer.
            handle = await asyncio.to_thread(os.open, wire(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as exc:
            raise _refused(path, exc) from exc
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise ChannelRefused(f"{path} is not a regular file.", reason="unsupported")
        return cls(path, handle)

    async def look(self, offset: int, size: int) -> FileLook:
        """Look at the path, the handle, the bytes at `offset` and the head after them."""
        try:
            return await _aside(lambda: self._look(offset, size))
        except OSError as exc:
            raise _refused(self._path, exc) from exc

    async def close(self) -> None:
        """Close the handle; never raises."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            # In a thread as well: closing can wait for a network file system.
            threading.Thread(target=os.close, args=(handle,), daemon=True).start()

    def _look(self, offset: int, size: int) -> FileLook:
        here = os.fstat(self._handle)
        try:
            there = os.stat(wire(self._path))  # noqa: PTH116 - beside fstat
        except OSError:
            there = None
        data = os.pread(self._handle, size, offset)
        head = os.pread(self._handle, HEAD, 0)
        same = there is not None and (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
        node = f"{here.st_dev}:{here.st_ino}"
        return FileLook(data, here.st_size, head, not same, exists=there is not None, written=here.st_mtime, node=node)


async def _aside(work: Callable[[], Result]) -> Result:
    """Do something in a thread of its own, which does not keep this program alive when a file system hangs."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        try:
            answer = (work(), None)
        except OSError as error:
            answer = (None, error)  # type: ignore[assignment]
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *answer)

    # threading.Thread would make the event loop wait until the thread has begun, which takes a while on a busy machine.
    _thread.start_new_thread(run, ())
    return await done


def _refused(path: str, exc: OSError) -> ChannelRefused:
    for kind, reason, words in REASONS:
        if isinstance(exc, kind):
            return ChannelRefused(f"{path} {words}.", reason=reason)
    return ChannelRefused(f"{path} cannot be read: {exc.strerror}.")
