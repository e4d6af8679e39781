"""The first question to a host: what it is, whose session this is, and what time it has."""

from __future__ import annotations

from bringup.core.errors import UsageError
from bringup.core.events import HostSeen
from bringup.core.sanitize import clean
from bringup.hosts.base import Host

SCRIPT = "uname -s; uname -n; id -un; date +%z; date +%s"
WATCHED = "Linux"
_LINES = 5


async def greet(host: Host) -> HostSeen:
    """Return what kind of machine a host is; `at` is its own clock.

    Raises UsageError for a machine whose processes cannot be watched, since there is no /proc to look into.
    """
    done = await host.run(SCRIPT)
    lines = [clean(line).strip() for line in done.stdout.splitlines()[:_LINES]]
    lines += [""] * (_LINES - len(lines))
    system, node, user, zone, epoch = lines
    if system != WATCHED:
        what = f"{host.name} runs {system}" if system else f"{host.name} does not answer like a Unix machine"
        raise UsageError(f"{what}; bringup watches Linux hosts only.", "Name the Linux machine that has the GPUs.")
    return HostSeen(
        at=float(epoch) if epoch.isdigit() else 0.0,
        node=node,
        system=system,
        user=user,
        utc_offset=seconds_east(zone),
    )


def seconds_east(zone: str) -> float:
    """Return the seconds of a zone as `date +%z` prints it: +0530 is 19800; 0 for what is no zone."""
    sign, digits = zone[:1], zone[1:]
    if sign not in ("+", "-") or len(digits) != 4 or not digits.isdigit():
        return 0.0
    seconds = int(digits[:2]) * 3600.0 + int(digits[2:]) * 60.0
    return -seconds if sign == "-" else seconds
