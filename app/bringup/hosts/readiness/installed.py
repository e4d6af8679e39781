"""The version of an engine as its package on the host says, where no log line has told it yet."""

from __future__ import annotations

import re

from bringup.hosts.base import Host
from bringup.hosts.shipped import with_arguments

_NAME = re.compile(r"([A-Za-z0-9]+)-(\d[A-Za-z0-9.!+]{0,40})\.dist-info")
_PATIENCE = 10.0


async def installed_version(host: Host, pid: int, package: str) -> str | None:
    """Return the version of a package that a process would import; None where that cannot be told.

    Raises ChannelRefused where the host does not answer in time, and ConnectionLost.
    """
    done = await host.run(with_arguments("readiness/installed.sh", str(pid), package), timeout=_PATIENCE, limit=1 << 12)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        found = _NAME.fullmatch(line)
        if found is not None and found[1].lower() == package.lower():
            return found[2].partition("+")[0]
    return None
