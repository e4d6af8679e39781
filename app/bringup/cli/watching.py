"""What `bringup watch` does, apart from how its command line is parsed: the parser costs a sixth of the first frame."""

from __future__ import annotations

import os


def open_console(
    *hosts: str,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
    read_only: bool = False,
    theme: str | None = None,
    bell: bool = True,
    notify: bool = True,
    docker: str | None = None,
    kube: str | None = None,
    slurm: str | None = None,
    unit: str | None = None,
) -> int:
    """Open the console on a host; returns the exit code. Raises UsageError for what cannot be watched."""
    # Textual costs 200 ms: nothing but the console pays for it.
    from bringup.cli.console import run_console
    from bringup.cli.targets import choose_all, configuration, way_of
    from bringup.ui.voice import voice_for

    way = way_of({"docker": docker, "kube": kube, "slurm": slurm, "unit": unit})
    chosen = choose_all(hosts, log=log, port=port, pid=pid, read_only=read_only, config=configuration(), way=way)
    config, tell = chosen.config, None
    if config is not None:
        from bringup.cli.notify import notifier_of

        bell, notify, tell = bell and config.bell, notify and config.notification, notifier_of(chosen)
    return run_console(chosen, theme=theme or "", voice=voice_for(os.environ, bell=bell, notify=notify, tell=tell))
