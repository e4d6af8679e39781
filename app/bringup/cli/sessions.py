"""The session, or the sessions of all nodes, for what a command line has chosen."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from bringup.cli import connect
from bringup.cli.keeping import keeping_of
from bringup.cli.memory import ledger_of, memory_of
from bringup.core.errors import UsageError
from bringup.hosts.prefixed import through
from bringup.session.fleet import Fleet
from bringup.session.session import Session

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.hosts.ask import Ask
    from bringup.hosts.ssh import SshOptions
    from bringup.session.knowledge import Knowledge

AskFor = Callable[[str], "Ask"]
"""Returns who is asked about a host of this name."""


async def make_session(
    chosen: Chosen,
    ask: AskFor,
    knowledge: Knowledge,
    options: SshOptions | None = None,
    *,
    watches: bool = False,
) -> Session | Fleet:
    """Return what watches the chosen; a job of Slurm is asked for its nodes first. Raises BringupError.

    `watches` says that a start is seen through: it is recorded then, where that is wanted.
    """
    if chosen.way is not None and chosen.way.kind == "slurm" and not chosen.way.parts["node"]:
        chosen = await _nodes_of_job(chosen, ask, options)
    if not chosen.nodes:
        return one_session(chosen, ask, knowledge, options, watches=watches)
    each = ((node.target.name, one_session(node, ask, knowledge, options, watches=watches)) for node in chosen.nodes)
    return Fleet(list(each))


def one_session(
    chosen: Chosen,
    ask: AskFor,
    knowledge: Knowledge,
    options: SshOptions | None = None,
    *,
    watches: bool = False,
) -> Session:
    """Return what watches one host."""
    way = through(connect.way_to(chosen.host, ask(chosen.target.name), options), chosen.way)
    target, environ = chosen.target, os.environ
    knowledge = replace(knowledge, policy=replace(knowledge.policy, ranks=chosen.ranks))
    return Session(
        way,
        target,
        knowledge,
        history=memory_of(target, environ),
        keeping=keeping_of(target, environ, watches=watches),
        write_down=ledger_of(target, environ),
    )


async def _nodes_of_job(chosen: Chosen, ask: AskFor, options: SshOptions | None) -> Chosen:
    from bringup.hosts.slurm import read_job
    from bringup.hosts.ways import make_way

    if chosen.nodes or chosen.way is None:
        raise UsageError("A job of Slurm has its own nodes, and several hosts are named.", "Name a login host only.")
    host = await connect.way_to(chosen.host, ask(chosen.target.name), options)()
    try:
        job = await read_job(host, chosen.way.parts["job"])
    finally:
        await host.close()
    log = chosen.target.log or job.log or None
    nodes = tuple(
        replace(
            chosen,
            target=replace(chosen.target, name=node, log=log),
            way=make_way("slurm", f"{job.number}@{node}"),
        )
        for node in job.nodes
    )
    return nodes[0] if len(nodes) == 1 else replace(chosen, nodes=nodes)
