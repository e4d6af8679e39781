"""A simulated server behind a real sshd, watched by a real session."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adopted import adopting
from sshd import Sshd

from bringup.demo.host import DemoHost
from bringup.history.store import Store
from bringup.hosts.base import Host
from bringup.hosts.ssh import SshHost
from bringup.recordings.place import Keeping
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target


@asynccontextmanager
async def watching(
    demo: DemoHost, server: Sshd, knowledge: Knowledge, history: Store | None = None, keeping: Keeping | None = None
) -> AsyncIterator[Session]:
    """Watch the simulated server through a real sshd, as `bringup watch` would."""
    async with watching_own(server, knowledge, mark=str(demo.home.root), history=history, keeping=keeping) as session:
        yield session


@asynccontextmanager
async def watching_own(
    server: Sshd, knowledge: Knowledge, *, mark: str, history: Store | None = None, keeping: Keeping | None = None
) -> AsyncIterator[Session]:
    """Watch whatever this test starts through a real sshd.

    What is launched through that sshd leaves its tree; this process adopts it, so that the search can be confined to
    what belongs to the test, and ends everything with `mark` in its title.
    """

    async def connect() -> Host:
        return await SshHost.login("box", options=server.options())

    with adopting(mark):
        session = Session(connect, Target(name="box", within=os.getpid()), knowledge, history=history, keeping=keeping)
        await session.open()
        try:
            yield session
        finally:
            await session.close()
