"""`bringup status [HOST]`: one look, one answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bringup.cli.naming import Hosts
from bringup.cli.which import ANY, Which

if TYPE_CHECKING:
    from bringup.cli.left_over import Found
    from bringup.cli.targets import Chosen
    from bringup.session.headless import Look


def status(
    *hosts: Hosts,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
    which: Which = ANY,
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
    """
    chosen = which.chosen(hosts)
    look, left = asyncio.run(_look(chosen))
    return answer(look, chosen, as_json=as_json, left=left)


def answer(look: Look, chosen: Chosen, *, as_json: bool, left: Found = ()) -> int:
    """Print the verdict of a look, and what was `left` in the middle; return the exit code of its state."""
    from bringup.cli.exits import BY_STATE
    from bringup.cli.output import emit, emit_page
    from bringup.report.contract import to_json
    from bringup.report.status import status_page
    from bringup.session.fleet_looks import FleetLook

    if as_json:
        emit(to_json(look.verdict, look.state.utc_offset, left))
    else:
        nodes = look.nodes if isinstance(look, FleetLook) else ()
        emit_page(lambda width: status_page(look.verdict, look.state, chosen.target.name, width, nodes, left))
    return BY_STATE[look.verdict.state]


async def _look(chosen: Chosen) -> tuple[Look, Found]:
    from bringup.cli.headless import all_connected, watched
    from bringup.cli.jobs import is_job
    from bringup.cli.left_over import left_on

    if is_job(chosen):
        async with watched(chosen) as looker:
            return await looker.once(), ()
    async with all_connected(chosen) as (sessions, headless):
        look, left = await headless.once(), await left_on(sessions)
        # What was left in the middle may be the only thing that tells that a server has ended.
        return headless.look() if left else look, left
