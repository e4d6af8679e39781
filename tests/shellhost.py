"""This machine with the shells and tools that other hosts have."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from bringup.hosts.base import Completed
from bringup.hosts.local import LocalHost


class Shell(LocalHost):
    """This machine with another /bin/sh, and for busybox with nothing but its own tools."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__("box")
        program = shutil.which(name)
        if program is None:
            pytest.skip(f"{name} is not installed")
        self._prefix = ""
        self._command = program
        self.bare = name == "busybox"
        if self.bare:
            tools = (
                "sh",
                "cat",
                "head",
                "id",
                "od",
                "tr",
                "sed",
                "readlink",
                "ls",
                "grep",
                "find",
                "mktemp",
                "chmod",
                "stat",
                "ln",
                "rm",
                *("mv", "mkdir", "date", "touch", "nice", "getconf", "taskset", "cut", "cmp"),
            )
            for tool in (*tools, "env", "true", "tail", "wc", "sleep", "setsid", "uname"):
                (folder / tool).symlink_to(program)
            self._command = str(folder / "sh")
            self._prefix = f"PATH={folder}\nexport PATH\n"

    async def run(self, script: str, *, stdin: bytes = b"", timeout: float = 10.0, limit: int = 1 << 20) -> Completed:
        return await super().run(
            f"exec {self._command} -c {shlex.quote(self._prefix + script)}", stdin=stdin, timeout=timeout, limit=limit
        )
