"""Files that are followed where a host has no SFTP: one sh process a file, asked over its standard input.

Exact in the same way as SFTP: the process keeps the file open, reads through its own descriptor, and sends the head
after the data; the path is compared by inode. It ends with its standard input, that is with the channel. It needs the
coreutils or busybox `stat` and `dd`, and /proc.
"""

from __future__ import annotations

import asyncio
import secrets
import shlex
from typing import Self

from bringup.core.errors import ChannelRefused, Reason
from bringup.hosts.base import FileLook
from bringup.hosts.scripts import Output, marked, new_mark
from bringup.hosts.ssh.errors import NETWORK
from bringup.hosts.ssh.process import CHUNK, Commands
from bringup.hosts.ssh.way import Process

PAGE = 4096
OPEN_TIMEOUT = 10.0
REASONS: dict[bytes, tuple[Reason, str]] = {
    b"missing": ("missing", "does not exist"),
    b"kind": ("unsupported", "is not a regular file"),
    b"denied": ("denied", "may not be read by this user"),
}
# {path} is quoted. Requests are lines "first-page pages"; {end} is a word that no file can be made to contain.
SCRIPT = """path={path}
[ -e "$path" ] || {{ echo missing; exit 0; }}
[ -f "$path" ] || {{ echo kind; exit 0; }}
[ -r "$path" ] || {{ echo denied; exit 0; }}
exec 3<"$path"
echo open
file=/proc/$$/fd/3
while read -r page pages; do
    stat -L -c '%s %Y %d:%i' "$file"
    stat -L -c '%d:%i' -- "$path" 2>/dev/null || echo gone
    printf {end}
    dd if="$file" bs=4096 skip="$page" count="$pages" 2>/dev/null
    printf {end}
    dd if="$file" bs=64 count=1 2>/dev/null
    printf {end}
done
"""


class ShellFile:
    """A file that a sh process on the host keeps open for us."""

    def __init__(self, commands: Commands, process: Process, where: str, end: bytes) -> None:
        self._commands, self._process, self._where, self._end = commands, process, where, end
        self._out = Output(b"", 0)
        self._buffer = bytearray()
        self._asking = asyncio.Lock()

    @classmethod
    async def open(cls, commands: Commands, name: str, path: str) -> Self:
        """Start the process and let it open the file."""
        mark, end = new_mark(), secrets.token_hex(16)
        quoted = shlex.quote(f"./{path}" if path.startswith("-") else path)
        process = await commands.start(marked(SCRIPT.format(path=quoted, end=end), mark))
        file = cls(commands, process, f"{path} on {name}", end.encode())
        file._out = Output(mark, 0)
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                answer = await file._until(b"\n")
        except TimeoutError as exc:
            commands.end(process)
            raise ChannelRefused(f"{file._where} could not be opened in time.", reason="timeout") from exc
        except BaseException:
            commands.end(process)
            raise
        if answer != b"open":
            commands.end(process)
            reason, words = REASONS.get(answer, ("other", "cannot be opened"))
            raise ChannelRefused(f"{file._where} {words}.", reason=reason)
        return file

    async def look(self, offset: int, size: int) -> FileLook:
        """Ask the process for one look: of handle and path, of the bytes at `offset`, and of the head after them."""
        async with self._asking:
            first = offset // PAGE
            pages = -(-(offset + size) // PAGE) - first
            try:
                self._process.stdin.write(f"{first} {pages}\n".encode())
            except NETWORK as exc:
                raise self._commands.ended(f"The reader of {self._where} has ended.") from exc
            facts, data, head = [await self._until(self._end) for _ in range(3)]
        skip = offset - first * PAGE
        length, written, node, path = facts.split()
        bytes_there = data[skip : skip + size]
        same, exists = path == node, path != b"gone"
        inode = node.decode("ascii", "replace")
        return FileLook(bytes_there, int(length), head, not same, exists, written=float(written), node=inode)

    async def close(self) -> None:
        """End the process; never raises."""
        self._commands.end(self._process)

    async def _until(self, separator: bytes) -> bytes:
        searched = 0
        while (found := self._buffer.find(separator, searched)) < 0:
            searched = max(0, len(self._buffer) - len(separator) + 1)
            chunk = await self._commands.read(self._process.stdout, CHUNK)
            if not chunk:
                raise ChannelRefused(f"{self._where} cannot be read: the reader on the host ended.")
            self._buffer += self._out.take(chunk)
        part = bytes(self._buffer[:found])
        del self._buffer[: found + len(separator)]
        return part
