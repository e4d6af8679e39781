"""Command lines of bringup as they are told to the operator, who types them as they stand."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bringup.session.console import Unfinished

THIS_MACHINE = "this machine"
"""What stands for a host that is not named."""


def command_line(verb: str, name: str, *options: str, port: int | None = None) -> str:
    """Return a command on a host, narrowed to the server on `port` where one is known, quoted for a shell."""
    host = [] if name == THIS_MACHINE else [name]
    narrowed = ["--port", str(port)] if port is not None else []
    return shlex.join(["bringup", verb, *host, *narrowed, *options])


def ends_first(left: Unfinished, name: str) -> str:
    """Return how a part of the old server that lives on is ended, in a sentence; "" where none does.

    A stop would take the place of a restart, and lose what its launch needs.
    """
    if not left.alive or left.server in left.alive or left.busy or left.untouched:
        return ""
    if not (left.kept or left.own):
        return f"`{command_line('stop', name, port=left.port)}` ends what lives on."
    again = command_line("restart", name, port=left.port)
    return f"In `{command_line('watch', name)}`, o ends what lives on; then `{again}` launches it{left.again}."
