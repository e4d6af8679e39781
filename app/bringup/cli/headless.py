"""A session for commands without a screen: made, asked, and ended whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from bringup.cli.asking import TerminalAsk
from bringup.cli.connect import way_to
from bringup.cli.leaving import Threads
from bringup.cli.memory import memory_of
from bringup.cli.own_files import tell_broken
from bringup.report.own_rules import load_rules
from bringup.session.headless import Headless
from bringup.session.session import Session
from bringup.session.waiting import impatient

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen

_GOODBYE = 2.0
"""Seconds that the end of the connection may take: the answer is there, and a dead host must not hold it back."""


@contextlib.asynccontextmanager
async def connected(chosen: Chosen, *, stall: float | None = None) -> AsyncIterator[tuple[Session, Headless]]:
    """Connect to what was chosen; `stall` replaces the patience of every phase. Raises BringupError."""
    asyncio.get_running_loop().set_default_executor(Threads())
    rules = load_rules()
    tell_broken(rules)
    knowledge = chosen.over(rules.knowledge)
    knowledge = replace(knowledge, policy=impatient(knowledge.policy, stall))
    way, history = way_to(chosen.host, TerminalAsk(chosen.target.name)), memory_of(chosen.target, os.environ)
    session = Session(way, chosen.target, knowledge, history=history)
    try:
        await session.open()
        yield session, Headless(session)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(session.close(), _GOODBYE)
