"""A file that is followed through a prefix: one command a look, since no process can be kept to be asked.

What is written to a file that is renamed between two looks is not read any more; a runtime's own log has no such gap.
"""

from __future__ import annotations

import secrets
import shlex
from typing import TYPE_CHECKING, Self

from bringup.core.errors import ChannelRefused, Reason
from bringup.hosts.base import FileLook

if TYPE_CHECKING:
    from bringup.hosts.base import Host

PAGE = 4096
LIMIT = 4 << 20
_REASONS: dict[bytes, tuple[Reason, str]] = {
    b"missing": ("missing", "does not exist"),
    b"kind": ("unsupported", "is not a regular file"),
    b"denied": ("denied", "may not be read by this user"),
}
_LOOK = """path={path}
[ -e "$path" ] || {{ echo missing; exit 0; }}
[ -f "$path" ] || {{ echo kind; exit 0; }}
[ -r "$path" ] || {{ echo denied; exit 0; }}
exec 3<"$path" || exit
file=/proc/$$/fd/3
echo open
stat -L -c '%s %Y %d:%i' "$file" || exit
printf {end}
dd if="$file" bs=4096 skip={first} count={pages} 2>/dev/null
printf {end}
dd if="$file" bs=64 count=1 2>/dev/null
printf {end}
"""


class PrefixedFile:
    """A file by its inode; another one under its path counts as moved."""

    def __init__(self, host: Host, path: str, node: bytes) -> None:
        self._host = host
        self._path = path
        self._node = node

    @classmethod
    async def open(cls, host: Host, path: str) -> Self:
        """Look at the file for the first time; raises ChannelRefused with the reason in words."""
        file = cls(host, path, b"")
        found = await file._ask(0, 1)
        if isinstance(found, bytes):
            reason, words = _REASONS.get(found, ("other", "cannot be opened"))
            raise ChannelRefused(f"{path} on {host.name} {words}.", reason=reason)
        file._node = found[0].split()[2]
        return file

    async def look(self, offset: int, size: int) -> FileLook:
        """Read `size` bytes at `offset`, with what proves that they belong to the same file."""
        found = await self._ask(offset, size)
        if isinstance(found, bytes):
            return FileLook(b"", offset, b"", moved=True, exists=found != b"missing")
        facts, data, head = found
        length, written, node = facts.split()
        if node != self._node:
            return FileLook(b"", offset, b"", moved=True, exists=True, node=_text(node))
        skip = offset % PAGE
        there = data[skip : skip + size]
        return FileLook(there, int(length), head, moved=False, exists=True, written=float(written), node=_text(node))

    async def close(self) -> None:
        """Nothing is kept open."""

    async def _ask(self, offset: int, size: int) -> tuple[bytes, bytes, bytes] | bytes:
        first = offset // PAGE
        pages = -(-(offset + size) // PAGE) - first
        quoted = shlex.quote(f"./{self._path}" if self._path.startswith("-") else self._path)
        end = secrets.token_hex(16)
        script = _LOOK.format(path=quoted, end=end, first=first, pages=pages)
        done = await self._host.run(script, limit=LIMIT)
        word, _, rest = done.stdout.partition(b"\n")
        if word != b"open":
            return word
        parts = rest.split(end.encode())
        if len(parts) < 3:
            said = done.stderr.decode("utf-8", "replace").strip()[:200]
            raise ChannelRefused(
                f"{self._path} on {self._host.name} cannot be read: {said or 'stat and dd are missing'}."
            )
        return parts[0], parts[1], parts[2]


def _text(node: bytes) -> str:
    return node.decode("ascii", "replace")
