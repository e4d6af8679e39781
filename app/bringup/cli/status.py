"""`bringup status [HOST]`: one look, one answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import Hosts

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.session.headless import Look


def status(
    *hosts: Hosts,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
    docker: str | None = None,
    kube: str | None = None,
    slurm: str | None = None,
    unit: str | None = None,
) -> int:
    """Look once at a host and say how the server there is; the exit code tells the state.

    0 ready, 1 failed, 2 wrong command line or configuration, 3 stalled, 4 the host cannot be reached, 5 degraded,
    6 starting or slow, 7 waiting: no server found, 8 stopped, 9 standby, 10 unknown.

    Parameters
    ----------
    hosts
        A target of the configuration, or whatever `ssh HOST` takes; several are the nodes of one start, the head node
        first. Nothing for this machine.
    as_json
        Print the verdict as JSON, schema version 1.
    log
        Read this log instead of the one the server was found to write.
    port
        The server on this port.
    pid
        The server with this process ID.
    docker
        The server in this container of docker: its log by `docker logs`, the rest by `docker exec`.
    kube
        The server in this pod, NAMESPACE/POD or NAMESPACE/POD/CONTAINER, by kubectl on the host.
    slurm
        All nodes of this job, by scontrol and srun on the host; JOBID@NODE is one of them.
    unit
        The server of this systemd unit, its log by journalctl; user/NAME for a unit of your own.
    """
    from bringup.cli.targets import choose_all, configuration, way_of

    way = way_of({"docker": docker, "kube": kube, "slurm": slurm, "unit": unit})
    chosen = choose_all(hosts, log=log, port=port, pid=pid, config=configuration(), way=way)
    look = asyncio.run(_look(chosen))
    return answer(look, chosen, as_json=as_json)


def answer(look: Look, chosen: Chosen, *, as_json: bool) -> int:
    """Print the verdict of a look and return the exit code of its state."""
    from bringup.cli.exits import BY_STATE
    from bringup.cli.output import emit, emit_page
    from bringup.report.contract import to_json
    from bringup.report.status import status_page
    from bringup.session.fleet_looks import FleetLook

    if as_json:
        emit(to_json(look.verdict, look.state.utc_offset))
    else:
        nodes = look.nodes if isinstance(look, FleetLook) else ()
        emit_page(lambda width: status_page(look.verdict, look.state, chosen.target.name, width, nodes))
    return BY_STATE[look.verdict.state]


async def _look(chosen: Chosen) -> Look:
    from bringup.cli.headless import watched

    async with watched(chosen) as headless:
        return await headless.once()
