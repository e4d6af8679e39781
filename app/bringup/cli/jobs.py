"""A job of Slurm on a command line: who is asked about it, and what is watched once it has its nodes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from bringup.cli import connect
from bringup.core.errors import BringupError, UsageError
from bringup.hosts.ways import make_way
from bringup.session.queued import Queue

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.hosts.ask import Ask
    from bringup.hosts.slurm import Job, Place
    from bringup.hosts.ssh import SshOptions


def is_job(chosen: Chosen) -> bool:
    """Say whether Slurm has to be asked what is meant: srun takes a node and the plain number of a job."""
    ways = [each.way for each in (chosen, *chosen.nodes) if each.way is not None and each.way.kind == "slurm"]
    return not all(way.parts["node"] and way.parts["job"].isdigit() for way in ways)


def queue_of(chosen: Chosen, ask: Callable[[str], Ask], options: SshOptions | None = None) -> Queue:
    """Return what asks about the job; raises UsageError where several hosts are named."""
    if chosen.nodes or chosen.way is None:
        raise UsageError("A job of Slurm has its own nodes, and several hosts are named.", "Name a login host only.")
    component = chosen.way.parts["component"]
    number = f"{chosen.way.parts['job']}{f'+{component}' if component else ''}"
    return Queue(connect.way_to(chosen.host, ask(chosen.target.name), options), number)


async def awaited(
    chosen: Chosen, ask: Callable[[str], Ask], options: SshOptions | None = None
) -> AsyncGenerator[str | Chosen, None]:
    """Yield for what a job waits, once a second, and at last what is to be watched; at once where no job is named."""
    if not is_job(chosen):
        yield chosen
        return
    async with aclosing(queue_of(chosen, ask, options).jobs()) as jobs:
        async for job in jobs:
            yield job.waits or nodes_of(job, chosen)


async def running(chosen: Chosen, ask: Callable[[str], Ask], options: SshOptions | None = None) -> Chosen:
    """Return what is to be watched; raises BringupError with what a job waits for."""
    async with aclosing(awaited(chosen, ask, options)) as steps:
        found = await anext(steps)
    if isinstance(found, str):
        raise BringupError(found, "`bringup wait` and `bringup watch` wait for its nodes.")
    return found


def nodes_of(job: Job, chosen: Chosen) -> Chosen:
    """Return the nodes of a job that runs, each by its own way; raises UsageError for a node that it does not have."""
    only = chosen.way.parts["node"] if chosen.way is not None else ""
    places = [place for place in job.places if only in ("", place.node)]
    if not places:
        raise UsageError(f"{only} is no node of the job {job.number}.", f"Its nodes are {', '.join(job.nodes[:16])}.")
    nodes = tuple(_node(place, job, chosen) for place in places)
    return nodes[0] if len(nodes) == 1 else replace(chosen, way=None, nodes=nodes)


def _node(place: Place, job: Job, chosen: Chosen) -> Chosen:
    target = replace(chosen.target, name=place.node, log=chosen.target.log or job.log or None)
    return replace(chosen, target=target, way=make_way("slurm", f"{place.job}@{place.node}"))
