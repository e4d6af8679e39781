"""The session, or the sessions of all nodes, for what a command line has chosen."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from bringup.cli import connect
from bringup.cli.jobs import running
from bringup.cli.keeping import keeping_of
from bringup.cli.memory import ledger_of, memory_of
from bringup.cli.protecting import protected
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
    stays: bool = False,
) -> Session | Fleet:
    """Return what watches the chosen; a job of Slurm must have its nodes. Raises BringupError.

    `watches` says that a start is seen through: it is recorded then, where that is wanted. `stays` says that somebody
    sees a refusal and can ask for another try; else it ends the watch.
    """
    chosen = await protected(await running(chosen, ask, options))
    if not chosen.nodes:
        return one_session(chosen, ask, knowledge, options, watches=watches, stays=stays)
    each = (
        (node.target.name, one_session(node, ask, knowledge, options, watches=watches, stays=stays))
        for node in chosen.nodes
    )
    return Fleet(list(each))


def one_session(
    chosen: Chosen,
    ask: AskFor,
    knowledge: Knowledge,
    options: SshOptions | None = None,
    *,
    watches: bool = False,
    stays: bool = False,
) -> Session:
    """Return what watches one host; the rest is as for `make_session`."""
    way = through(connect.way_to(chosen.host, ask(chosen.target.name), options), chosen.way)
    target, environ = chosen.target, os.environ
    knowledge = replace(knowledge, policy=replace(knowledge.policy, ranks=chosen.ranks))
    session = Session(
        way,
        target,
        knowledge,
        history=memory_of(target, environ),
        keeping=keeping_of(target, environ, watches=watches),
        write_down=ledger_of(target, environ),
    )
    session.retries.stays = stays
    return session
