"""A job of Slurm that waits for its nodes: looked at until it has them, and from then on what is watched there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from typing import Protocol

from bringup.core.assess import assess
from bringup.core.errors import ConnectionLost, Unreachable
from bringup.core.events import Event, HostSeen, LinkChanged, Searching
from bringup.core.policy import Policy
from bringup.core.reduce import reduce
from bringup.core.state import State
from bringup.hosts.base import Host
from bringup.hosts.greeting import greet
from bringup.hosts.slurm import Job, read_job
from bringup.session.backoff import ASK_OPERATOR, waits
from bringup.session.headless import Look

EVERY = 1.0
"""Seconds between two looks."""
ASKED_EVERY = 15
"""Looks of which one asks Slurm: a controller has thousands of jobs, and all of their users ask it."""

Connect = Callable[[], Awaitable[Host]]
Sleep = Callable[[float], Awaitable[None]]


class Looker(Protocol):
    """Whatever can be looked at without a screen, once or again and again."""

    def looks(self) -> AsyncGenerator[Look, None]:
        """Yield looks for ever; raises BringupError when the watch ends by itself."""
        ...

    async def once(self) -> Look:
        """Return the first look that can be relied on."""
        ...

    async def ask_others(self) -> None:
        """Have the host asked what others do to the server: the next look tells."""
        ...


class Queue:
    """Asks about a job over one connection to a host that knows it; `sleep` is for tests."""

    def __init__(self, connect: Connect, number: str, *, sleep: Sleep = asyncio.sleep) -> None:
        self._connect = connect
        self._number = number
        self._sleep = sleep
        self.seen: HostSeen | None = None
        """The host that was asked, once it was."""

    async def jobs(self) -> AsyncGenerator[Job, None]:
        """Yield the job once a second as long as it waits, and at last with its nodes; raises BringupError."""
        host = await self._connect()
        try:
            self.seen = await greet(host)
            while True:
                try:
                    job = await read_job(host, self._number)
                except ConnectionLost:
                    await host.close()
                    host = await self._again()
                    continue
                yield job
                if not job.waits:
                    return
                for _ in range(ASKED_EVERY - 1):
                    await self._sleep(EVERY)
                    yield job
                await self._sleep(EVERY)
        finally:
            await host.close()

    async def _again(self) -> Host:
        """Connect once more: a job may wait for days, and its host is not always there."""
        for wait in waits():
            await self._sleep(wait)
            try:
                return await self._connect()
            except ASK_OPERATOR:
                raise
            except (Unreachable, ConnectionLost):
                continue
        raise AssertionError("waits() never ends")


class Queued:
    """Looks at a job: waiting as long as it waits, then at what `open_job` opens for it."""

    def __init__(
        self,
        queue: Queue,
        policy: Policy,
        open_job: Callable[[Job], AbstractAsyncContextManager[Looker]],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue = queue
        self._policy = policy
        self._open = open_job
        self._monotonic = monotonic
        self._begun = monotonic()
        self._inner: Looker | None = None
        """What looks at the job once it has its nodes."""

    async def looks(self) -> AsyncGenerator[Look, None]:
        """Yield looks for ever; raises BringupError when the watch ends by itself."""
        async with aclosing(self._queue.jobs()) as jobs:
            async for job in jobs:
                if job.waits:
                    yield self._look(job)
                else:
                    break
        before = self._monotonic() - self._begun
        async with self._open(job) as self._inner, aclosing(self._inner.looks()) as looks:
            async for look in looks:
                yield replace(look, elapsed=look.elapsed + before)

    async def once(self) -> Look:
        """Return the first look that can be relied on: that the job waits is one."""
        async with aclosing(self._queue.jobs()) as jobs:
            job = await anext(jobs)
        if job.waits:
            return self._look(job)
        async with self._open(job) as inner:
            return await inner.once()

    async def ask_others(self) -> None:
        """Have the nodes asked, where the job has them."""
        if self._inner is not None:
            await self._inner.ask_others()

    def _look(self, job: Job) -> Look:
        elapsed, seen = self._monotonic() - self._begun, self._queue.seen
        assert seen is not None, "the host that told of the job has answered"
        now = seen.at + elapsed
        told: tuple[Event, ...] = (seen, LinkChanged(at=now, status="up"), Searching(at=now, seeks=job.waits))
        state = State()
        for event in told:
            state = reduce(state, event)
        return Look(assess(state, now, self._policy), state, settled=True, elapsed=elapsed, watched=0.0)
