"""A connection that is lost in the middle of one of the host's scripts: at any program that it calls."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable

from engineserver import Place
from placedhost import Placed

from bringup.core.errors import ConnectionLost
from bringup.hosts.base import Completed, Host

CHANGES = ("cat", "chmod", "head", "ln", "mkdir", "mktemp", "mv", "rm", "rmdir", "setsid", "sh", "tail", "touch")
"""What changes something on the host, or may do so, where it is called by a script."""
WRAPPER = """#!/bin/sh
group() {{ set -- ${{1##*)}}; echo "$3"; }}
case "{tool} $*" in 'cat /proc/'*'/cmdline') ;; *) printf x >>{folder}/count ;; esac
read -r all <{folder}/count
read -r at <{folder}/at
if [ "${{#all}}" -ge "$at" ] && {mkdir} {folder}/once 2>/dev/null; then
    echo "{tool} $*" | {head} -n 1 >{folder}/torn.new
    {mv} {folder}/torn.new {folder}/torn
    read -r stat <"/proc/$$/stat"
    [ "$(group "$stat")" != "$TORN_GROUP" ] || exec {sleep} 600
fi
exec {real} "$@"
"""
"""What is in the group of the script itself waits there for its end; what has a session of its own goes on."""


class Torn(Placed):
    """A host whose connection is lost at program number `at` of all that are called; `lose` does so where that is real.

    What the connection's guard does on the host then (hosts/scripts.py), LocalHost does for itself: all of the script's
    process group is ended.
    """

    def __init__(self, host: Host, place: Place, at: int, lose: Callable[[], None] | None = None) -> None:
        self._folder = place.folder / "tear"
        self._lose = lose
        self._lost = False
        (self._folder / "bin").mkdir(parents=True)
        (self._folder / "count").touch()
        (self._folder / "at").write_text(f"{at}\n")
        for tool in CHANGES:
            place.program(f"../tear/bin/{tool}", self._wrapper(tool).removeprefix("#!/bin/sh\n"))
        super().__init__(host, {**place.environ, "PATH": f"{self._folder / 'bin'}:{place.environ['PATH']}"})

    @property
    def where(self) -> str:
        """The program at which it was cut; "" where it was not."""
        file = self._folder / "torn"
        return file.read_text().strip() if file.exists() else ""

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        if self._lost:
            raise ConnectionLost("The connection was cut by the test.")
        asked = f"export TORN_GROUP=$$\n{script}"
        work = asyncio.ensure_future(super().run(asked, stdin=stdin, timeout=timeout * 10, limit=limit))
        while not self.where:
            if (await asyncio.wait({work}, timeout=0.01))[0]:
                return work.result()
        self._lost = True
        if self._lose is not None:
            self._lose()
        else:
            work.cancel()
        with contextlib.suppress(ConnectionLost, asyncio.CancelledError):
            await work
        raise ConnectionLost("The connection was cut by the test.")

    def _wrapper(self, tool: str) -> str:
        path = os.environ["PATH"]
        real = {name: shutil.which(name, path=path) for name in ("head", "mkdir", "mv", "sleep")}
        return WRAPPER.format(folder=self._folder, tool=tool, **{**real, "real": shutil.which(tool, path=path)})
