"""What `bringup watch` does, apart from how its command line is parsed: the parser costs a sixth of the first frame."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bringup.core.errors import UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.cli.which import Which
    from bringup.config.shapes import Config


def open_console(
    *hosts: str,
    which: Which | None = None,
    read_only: bool = False,
    theme: str | None = None,
    bell: bool = True,
    notify: bool = True,
    launch: str | None = None,
    yes: bool = False,
) -> int:
    """Open the console on a host; returns the exit code. Raises UsageError for what cannot be watched.

    Without `which` the server is searched for: the parser, which knows the options, is not needed then.
    """
    # Textual costs 200 ms: nothing but the console pays for it.
    from bringup.cli.console import run_console
    from bringup.cli.targets import choose_all, configuration
    from bringup.ui.voice import voice_for

    if which is None:
        chosen = choose_all(hosts, read_only=read_only, config=configuration())
    else:
        chosen = which.chosen(hosts, read_only=read_only)
    if launch is not None:
        chosen = _launched(launch, hosts, which, chosen.config, read_only=read_only, yes=yes)
    elif yes:
        raise UsageError("There is nothing to say yes to.", "Give --yes together with --launch NAME.")
    config, tell = chosen.config, None
    if config is not None:
        from bringup.cli.notify import notifier_of

        bell, notify, tell = bell and config.bell, notify and config.notification, notifier_of(chosen)
    return run_console(chosen, theme=theme or "", voice=voice_for(os.environ, bell=bell, notify=notify, tell=tell))


def _launched(
    name: str, hosts: tuple[str, ...], which: Which | None, config: Config | None, *, read_only: bool, yes: bool
) -> Chosen:
    """Launch a target and return what is to be watched. Raises BringupError where that fails."""
    from bringup.cli.console import refuse_without_terminal
    from bringup.cli.launching import launch, to_launch

    if read_only:
        raise UsageError("--read-only and --launch contradict each other.", "Give one of them.")
    if which is not None and which.pid is not None:
        raise UsageError("--pid and --launch contradict each other.", "What is launched gets a PID of its own.")
    refuse_without_terminal()
    port, log, way = (which.port, which.log, which.way) if which is not None else (None, None, None)
    chosen = to_launch(name, hosts, config, port=port, log=log, way=way)
    launch(chosen, name, yes=yes)
    return chosen
