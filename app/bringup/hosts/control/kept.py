"""The command line that a restart in the middle has kept on its host, so that any console can edit it."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.hosts.base import Host
from bringup.hosts.control.journal import script
from bringup.hosts.control.unfinished import Unfinished

_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class KeptCommand:
    """What ran, and what would be launched now: an edit may have failed. Both may hold secrets."""

    ran: tuple[str, ...]
    kept: tuple[str, ...]


async def kept_command(host: Host, left: Unfinished) -> KeptCommand | None:
    """Return the command that can be edited before a restart goes on; None where an edited one would not run."""
    if not left.kept or left.own or left.respawns:
        return None
    done = await host.run(script("kept.sh", left.claim.folder), limit=_LIMIT)
    told = dict(line.split(" ", 1) for line in done.stdout.decode("ascii", "replace").splitlines() if " " in line)
    ran, kept = (_words(told.get(name, "")) for name in ("was", "argv"))
    return KeptCommand(ran, kept) if ran and kept else None


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a command line as /proc/PID/cmdline has them, in hexadecimal digits."""
    try:
        line = bytes.fromhex(text)
    except ValueError:
        return ()
    return tuple(word.decode("utf-8", "surrogateescape") for word in line.removesuffix(b"\0").split(b"\0") if line)
