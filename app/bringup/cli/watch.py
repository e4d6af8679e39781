"""`bringup watch [HOST]`: the console on a real host."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from bringup.cli.naming import Hosts, target_names
from bringup.cli.watching import open_console


def watch(
    *hosts: Hosts,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
    read_only: bool = False,
    theme: str | None = None,
    bell: Annotated[bool, Parameter(negative="--no-bell")] = True,
    notify: Annotated[bool, Parameter(negative="--no-notify")] = True,
    docker: str | None = None,
    kube: str | None = None,
    slurm: str | None = None,
    unit: str | None = None,
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
    log
        Follow this log instead of the one the server was found to write.
    port
        Watch the server on this port.
    pid
        Watch the server with this process ID.
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
    docker
        The server in this container of docker: its log by `docker logs`, the rest by `docker exec`.
    kube
        The server in this pod, NAMESPACE/POD or NAMESPACE/POD/CONTAINER, by kubectl on the host.
    slurm
        All nodes of this job, by scontrol and srun on the host; JOBID@NODE is one of them.
    unit
        The server of this systemd unit, its log by journalctl; user/NAME for a unit of your own.
    """
    return open_console(
        *hosts,
        log=log,
        port=port,
        pid=pid,
        read_only=read_only,
        theme=theme,
        bell=bell,
        notify=notify,
        docker=docker,
        kube=kube,
        slurm=slurm,
        unit=unit,
        launch=launch,
        yes=yes,
    )
