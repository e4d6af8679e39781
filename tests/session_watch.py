"""A simulated server behind a real sshd, watched by a real session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sshd import Sshd

from bringup.demo.host import DemoHost
from bringup.hosts.base import Host
from bringup.hosts.ssh import SshHost
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target


@asynccontextmanager
async def watching(demo: DemoHost, server: Sshd, knowledge: Knowledge, **narrowed: object) -> AsyncIterator[Session]:
    """Watch the simulated server through a real sshd, as `bringup watch` would."""

    async def connect() -> Host:
        return await SshHost.login("box", options=server.options())

    session = Session(connect, Target(name="box", within=demo.within, **narrowed), knowledge)  # type: ignore[arg-type]
    await session.open()
    try:
        yield session
    finally:
        await session.close()
