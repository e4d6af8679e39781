"""`bringup watch [HOST]`: the console on a real host."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from bringup.cli.naming import Hosts, Theme, target_names
from bringup.cli.watching import open_console
from bringup.cli.which import ANY, Which


def watch(
    *hosts: Hosts,
    read_only: bool = False,
    theme: Theme = None,
    bell: Annotated[bool, Parameter(negative="--no-bell")] = True,
    notify: Annotated[bool, Parameter(negative="--no-notify")] = True,
    which: Which = ANY,
    launch: Annotated[str | None, Parameter(completer=target_names)] = None,
    yes: bool = False,
) -> int:
    """Open the console on a host and follow the server that starts there.

    Parameters
    ----------
    hosts
        A target of the configuration, or whatever `ssh HOST` takes: an alias, user@host, ssh://user@host:port; ssh:NAME
        is an alias even where a target has that name. Several are the nodes of one start, the head node first. Nothing
        for this machine.
    read_only
        Take away the keys that stop or restart the server.
    launch
        Start this target of the configuration first, detached, so that it outlives the console; shows what it does, and
        asks.
    yes
        Launch without asking.
    theme
        Colours: dark, light, ansi (the terminal's own 16), or any theme of Textual; else what the terminal suggests.
    bell
        Ring the terminal's bell when the server becomes ready, fails, stalls or degrades.
    notify
        Show a notification then, where the terminal can (OSC 9).
    """
    return open_console(
        *hosts,
        read_only=read_only,
        theme=theme,
        bell=bell,
        notify=notify,
        which=which,
        launch=launch,
        yes=yes,
    )
