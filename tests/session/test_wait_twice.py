"""One look, and then many: who gives up waiting for a session does not end it."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing

import pytest

from bringup.core.errors import ConnectionLost
from bringup.hosts.base import Host
from bringup.hosts.local import LocalHost
from bringup.session.headless import Headless
from bringup.session.knowledge import Knowledge
from bringup.session.session import Session
from bringup.session.target import Target


@pytest.fixture
def session(knowledge: Knowledge) -> Session:
    async def connect() -> Host:
        return LocalHost("box")

    return Session(connect, Target("box", within=os.getpid()), knowledge)


async def test_looks_after_one_look(session: Session) -> None:
    await session.open()
    try:
        headless = Headless(session)
        assert (await headless.once()).verdict.state == "waiting"
        sampled = 0
        async with aclosing(headless.looks()) as looks:
            async for look in looks:
                assert look.verdict.state == "waiting"
                sampled += 1
                if sampled == 5:
                    break
        assert (await headless.once()).settled
    finally:
        await session.close()


async def test_a_wait_that_is_given_up_leaves_the_watch_alone(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = asyncio.Event()

    async def supervise(host: Host) -> None:
        await ended.wait()
        raise ConnectionLost("It is gone.")

    monkeypatch.setattr(session, "_supervise", supervise)
    await session.open()
    try:
        first = asyncio.create_task(session.wait())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert first.cancelled()
        ended.set()
        with pytest.raises(ConnectionLost):
            await session.wait()
    finally:
        await session.close()
