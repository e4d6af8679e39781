"""Command lines of bringup as they are told to the operator, who types them as they stand."""

from __future__ import annotations

import shlex

THIS_MACHINE = "this machine"
"""What stands for a host that is not named."""


def command_line(verb: str, name: str, *options: str, port: int | None = None) -> str:
    """Return a command on a host, narrowed to the server on `port` where one is known, quoted for a shell."""
    host = [] if name == THIS_MACHINE else [name]
    narrowed = ["--port", str(port)] if port is not None else []
    return shlex.join(["bringup", verb, *host, *narrowed, *options])
