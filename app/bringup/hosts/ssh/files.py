"""Files that are followed over SFTP: each look is one batch of requests, answered in order in one round trip.

Measured against OpenSSH 9.2: sftp-server works its queue in order, so a head that is read after the data and has not
changed proves that the data belongs to the same log, even when the file was truncated and grown again in between.
"""

from __future__ import annotations

import asyncio
import stat
from typing import TypeVar

import asyncssh

from bringup.core.errors import BringupError, ChannelRefused, Reason
from bringup.hosts.base import FileLook, OpenFile
from bringup.hosts.scripts import wire
from bringup.hosts.ssh.errors import NETWORK, channel_error, printable
from bringup.hosts.ssh.line import Line
from bringup.hosts.ssh.process import FULL, Commands
from bringup.hosts.ssh.shell_file import ShellFile

Answer = TypeVar("Answer")
START_TIMEOUT = 8.0
TRIES = 10
"""Times that the file service is asked for while the host has no session left."""
CLOSE_TIMEOUT = 1.0
HEAD = 64
NO_SUBSYSTEM = 0xFFFFFFFF
"""asyncssh's own code for "Session request failed": the server has no such subsystem."""
REASONS: tuple[tuple[type[asyncssh.SFTPError], Reason, str], ...] = (
    (asyncssh.SFTPNoSuchFile, "missing", "does not exist"),
    (asyncssh.SFTPPermissionDenied, "denied", "may not be read by this user"),
    (asyncssh.SFTPFailure, "other", "cannot be opened"),
)


class Files:
    """Opens files over one shared SFTP client, or by a shell where the host has no SFTP."""

    def __init__(self, line: Line, commands: Commands) -> None:
        self._line = line
        self._commands = commands
        self._sftp: asyncssh.SFTPClient | None = None
        self._missing = False
        self._starting = asyncio.Lock()

    async def open(self, path: str) -> OpenFile:
        """Open a regular file for following."""
        async with self._starting:
            if self._line.is_lost:
                raise self._line.loss()
            if self._sftp is None and not self._missing:
                await self._start()
        if self._sftp is None:
            return await ShellFile.open(self._commands, self._line.name, path)
        return await self._open(self._sftp, path)

    def failed(self, exc: BaseException, path: str) -> BringupError:
        """Return the sentence for a request that failed."""
        if self._line.is_lost:
            return self._line.loss()
        if isinstance(exc, (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection)):
            self._sftp, self._commands.kept = None, 0
            return ChannelRefused(f"The file service of {self._line.name} ended.", "It is started again when needed.")
        for kind, reason, words in REASONS:
            if isinstance(exc, kind):
                return ChannelRefused(f"{path} on {self._line.name} {words}.", reason=reason)
        if isinstance(exc, asyncssh.SFTPError):
            return ChannelRefused(f"{path} on {self._line.name} cannot be read: {printable(str(exc))}.")
        return self._line.loss()

    async def close(self) -> None:
        """End the SFTP client."""
        if self._sftp is not None:
            self._sftp.exit()
            self._sftp, self._commands.kept = None, 0

    async def _start(self) -> None:
        for left in reversed(range(TRIES)):
            try:
                async with asyncio.timeout(START_TIMEOUT):
                    self._sftp = await self._line.conn.start_sftp_client()
                    self._commands.kept = 1
            except (TimeoutError, asyncssh.SFTPError):
                # No subsystem behind the name, or a login shell that prints into it.
                self._missing = True
            except NETWORK as exc:
                if self._line.is_lost or not isinstance(exc, asyncssh.ChannelOpenError):
                    raise self._line.loss() from exc
                self._missing = exc.code == NO_SUBSYSTEM
                if not self._missing and not left:
                    raise channel_error(exc, self._line.name, "start its file service", self._commands.held) from exc
            if self._line.is_lost:
                raise self._line.loss()
            if self._missing or self._sftp is not None:
                return
            # All sessions that the host allows are taken: that of a command which has just ended is free in a moment.
            await asyncio.sleep(FULL)

    async def _open(self, sftp: asyncssh.SFTPClient, path: str) -> OpenFile:
        try:
            # Looked at first: opening a pipe would hang the file service until somebody writes to it.
            raw = wire(path)
            kind = (await sftp.stat(raw)).permissions
            if kind is not None and not stat.S_ISREG(kind):
                raise ChannelRefused(f"{path} on {self._line.name} is not a regular file.", reason="unsupported")
            # Without block_size=0 a read is made of several requests, and some of them are sent after the head's.
            handle = await sftp.open(raw, "rb", encoding=None, block_size=0)
        except NETWORK as exc:
            raise self.failed(exc, path) from exc
        return SftpFile(self, sftp, handle, path)


class SftpFile:
    """A file behind an SFTP handle. SFTP has no inodes: another size or time than the handle's means another file."""

    def __init__(self, files: Files, sftp: asyncssh.SFTPClient, handle: asyncssh.SFTPClientFile, path: str) -> None:
        self._files, self._sftp, self._handle, self._path = files, sftp, handle, path

    async def look(self, offset: int, size: int) -> FileLook:
        """Look at the path, the handle, the bytes at `offset` and the head, in this order, in one round trip."""
        block = self._sftp.limits.max_read_len or 32768
        spans = [(offset + start, min(block, size - start)) for start in range(0, max(size, 1), block)]
        raw = wire(self._path)
        # gather starts its requests at once and in order: those about the file go out before the reads.
        about = asyncio.gather(self._handle.stat(), self._sftp.stat(raw), self._handle.stat(), return_exceptions=True)
        reads = asyncio.gather(
            *(self._read(start, length) for start, length in spans),
            self._read(0, HEAD),
            return_exceptions=True,
        )
        before, path, after = await about
        *data, head = [self._checked(answer) for answer in await reads]
        first, last = self._checked(before), self._checked(after)
        gone = isinstance(path, (asyncssh.SFTPNoSuchFile, asyncssh.SFTPPermissionDenied))
        moved = gone or not _same(first, self._checked(path), last)
        return FileLook(
            _joined(data, block), last.size or 0, head, moved, exists=not gone, written=_seconds(last.mtime)
        )

    async def _read(self, start: int, length: int) -> bytes:
        data: bytes = await self._handle.read(length, start)
        return data

    def _checked(self, answer: Answer | BaseException) -> Answer:
        if isinstance(answer, NETWORK):
            raise self._files.failed(answer, self._path) from answer
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def close(self) -> None:
        """Close the handle; never raises, and does not wait long where its file system hangs."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await self._handle.close()
        except (TimeoutError, *NETWORK):
            return


def _seconds(mtime: int | None) -> float | None:
    return None if mtime is None else float(mtime)


def _joined(blocks: list[bytes], block: int) -> bytes:
    # The file may have grown between two reads: what follows a short block is not next to it.
    whole = 0
    while whole < len(blocks) - 1 and len(blocks[whole]) == block:
        whole += 1
    return b"".join(blocks[: whole + 1])


def _same(before: asyncssh.SFTPAttrs, path: asyncssh.SFTPAttrs, after: asyncssh.SFTPAttrs) -> bool:
    if (path.permissions, path.uid, path.gid) != (after.permissions, after.uid, after.gid):
        return False
    # The file may grow or be truncated while it is looked at: the path then shows it as before, as after, or between.
    first, there, last = ((attrs.size or 0, attrs.mtime or 0) for attrs in (before, path, after))
    between = first[0] <= there[0] <= last[0] and first[1] <= there[1] <= last[1]
    return between or there in (first, last)
