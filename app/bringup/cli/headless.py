"""A session for commands without a screen: made, asked, and ended whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from bringup.cli.asking import TerminalAsk
from bringup.cli.jobs import is_job, nodes_of, queue_of
from bringup.cli.leaving import Threads
from bringup.cli.own_files import tell_broken
from bringup.cli.sessions import make_session
from bringup.cli.targets import only_one
from bringup.core.errors import UsageError
from bringup.report.own_rules import load_rules
from bringup.session.fleet import Fleet
from bringup.session.fleet_looks import FleetHeadless
from bringup.session.headless import Headless
from bringup.session.queued import Looker, Queued
from bringup.session.session import Session
from bringup.session.waiting import impatient

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen

Named = tuple[str, Session]
_GOODBYE = 2.0
"""Seconds that the end of the connection may take: the answer is there, and a dead host must not hold it back."""


@contextlib.asynccontextmanager
async def connected(chosen: Chosen, *, stall: float | None = None) -> AsyncIterator[tuple[Session, Headless]]:
    """Connect to the one host that was chosen; `stall` replaces the patience of every phase. Raises BringupError."""
    async with _opened(only_one(chosen, "session"), stall) as session:
        if isinstance(session, Fleet):
            raise UsageError(f"The job has {len(session.nodes)} nodes.", "Name one: --slurm JOBID@NODE.")
        yield session, Headless(session)


@contextlib.asynccontextmanager
async def all_connected(chosen: Chosen) -> AsyncIterator[tuple[tuple[Named, ...], Headless | FleetHeadless]]:
    """Connect to all hosts that were chosen; yields their sessions by name, and what looks at all of them."""
    async with _opened(chosen, None) as session:
        if isinstance(session, Fleet):
            yield session.sessions, FleetHeadless(session)
        else:
            yield ((chosen.target.name, session),), Headless(session)


@contextlib.asynccontextmanager
async def watched(chosen: Chosen, *, stall: float | None = None, watches: bool = False) -> AsyncIterator[Looker]:
    """Connect to what was chosen, one host or all nodes of a start; `watches` sees it through. Raises BringupError.

    A job of Slurm that has no nodes yet is a server that is waited for.
    """
    if is_job(chosen):
        asyncio.get_running_loop().set_default_executor(Threads())
        queue = queue_of(chosen, TerminalAsk)
        yield Queued(queue, chosen.policy(), lambda job: watched(nodes_of(job, chosen), stall=stall, watches=watches))
        return
    async with _opened(chosen, stall, watches=watches) as session:
        yield FleetHeadless(session) if isinstance(session, Fleet) else Headless(session)


@contextlib.asynccontextmanager
async def _opened(chosen: Chosen, stall: float | None, *, watches: bool = False) -> AsyncIterator[Session | Fleet]:
    asyncio.get_running_loop().set_default_executor(Threads())
    rules = load_rules()
    tell_broken(rules)
    knowledge = chosen.over(rules.knowledge)
    knowledge = replace(knowledge, policy=impatient(knowledge.policy, stall))
    session = await make_session(chosen, TerminalAsk, knowledge, watches=watches)
    try:
        await session.open()
        yield session
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(session.close(), _GOODBYE)
