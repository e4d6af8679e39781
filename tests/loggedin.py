"""This machine, logged in to as another user; only root can become one."""

from __future__ import annotations

import shlex

from bringup.hosts.base import Completed
from bringup.hosts.local import LocalHost

NOBODY = 65534


class LoggedIn(LocalHost):
    """Every script runs as this user, in the group of the same number and in no other."""

    def __init__(self, uid: int = NOBODY) -> None:
        super().__init__("box")
        self._uid = uid

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        become = f"exec setpriv --reuid {self._uid} --regid {self._uid} --clear-groups"
        return await super().run(
            f"{become} /bin/sh -c {shlex.quote(script)}", stdin=stdin, timeout=timeout, limit=limit
        )
