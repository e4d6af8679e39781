"""`bringup watch [HOST]`: the console on a real host."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from bringup.cli.naming import Host
from bringup.cli.watching import open_console


def watch(
    host: Host = None,
    /,
    *,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
    read_only: bool = False,
    theme: str | None = None,
    bell: Annotated[bool, Parameter(negative="--no-bell")] = True,
    notify: Annotated[bool, Parameter(negative="--no-notify")] = True,
) -> int:
    """Open the console on a host and follow the server that starts there.

    Parameters
    ----------
    host
        A target of the configuration, or whatever `ssh HOST` takes: an alias, user@host, ssh://user@host:port; ssh:NAME
        is an alias even where a target has that name. Nothing for this machine.
    log
        Follow this log instead of the one the server was found to write.
    port
        Watch the server on this port.
    pid
        Watch the server with this process ID.
    read_only
        Take away the keys that stop or restart the server.
    theme
        Colours: dark, light, ansi (the terminal's own 16), or any theme of Textual; else what the terminal suggests.
    bell
        Ring the terminal's bell when the server becomes ready, fails, stalls or degrades.
    notify
        Show a notification then, where the terminal can (OSC 9).
    """
    return open_console(host, log=log, port=port, pid=pid, read_only=read_only, theme=theme, bell=bell, notify=notify)
