"""A job of Slurm that waits for its nodes is a server that is waited for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest
from runtimes import Runtime
from runtimes import runtime as runtime
from simulated import needs_linux

from bringup.core.errors import ConnectionLost, Unreachable
from bringup.engines.patience import load_policy
from bringup.hosts.base import Completed, Host
from bringup.hosts.local import LocalHost
from bringup.hosts.slurm import Job
from bringup.session.headless import Look
from bringup.session.queued import ASKED_EVERY, Looker, Queue, Queued
from bringup.session.waiting import Terms, Wait

pytestmark = needs_linux
RUNS = "JobId=4712 JobState=RUNNING NodeList=node1 BatchHost=node1 StdOut=/shared/out"


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Later:
    """What runs on the job's nodes: the last look at the queue, as if it were ready."""

    def __init__(self, look: Look) -> None:
        self._look = look

    async def looks(self) -> AsyncGenerator[Look, None]:
        while True:
            yield self._look

    async def once(self) -> Look:
        return self._look


async def connect() -> Host:
    return LocalHost("login")


def queued(clock: Clock, opened: list[Job], number: str = "4712") -> Queued:
    @asynccontextmanager
    async def open_job(job: Job) -> AsyncIterator[Looker]:
        opened.append(job)
        first = await Queued(Queue(connect, "4713"), load_policy(), open_job, monotonic=clock).once()
        yield Later(replace(first, verdict=replace(first.verdict, state="ready"), elapsed=2.0))

    return Queued(Queue(connect, number, sleep=clock.sleep), load_policy(), open_job, monotonic=clock)


async def test_one_look_says_that_it_waits(runtime: Runtime) -> None:
    look = await queued(Clock(), []).once()
    assert (look.verdict.state, look.settled) == ("waiting", True)
    assert "The Slurm job 4712 is pending (Resources), and expected to start at " in look.verdict.summary


async def test_it_is_waited_for_and_then_watched(runtime: Runtime) -> None:
    clock, opened = Clock(), list[Job]()
    seen = []
    async with aclosing(queued(clock, opened).looks()) as looks:
        async for look in looks:
            seen.append((look.verdict.state, look.elapsed))
            if len(seen) == 2 * ASKED_EVERY - 3:
                runtime.tell("job-4712", RUNS)
            if look.verdict.state == "ready":
                break
    assert [state for state, _ in seen] == [*["waiting"] * 2 * ASKED_EVERY, "ready"]
    assert [elapsed for _, elapsed in seen[:3]] == [0.0, 1.0, 2.0]
    assert seen[-1][1] == 2 * ASKED_EVERY + 2.0
    assert [job.nodes for job in opened] == [("node1",)]


@pytest.mark.parametrize(("terms", "ends"), [(Terms(appear=40), 40), (Terms(timeout=100), 100)])
async def test_a_wait_ends_when_it_was_asked_to(terms: Terms, ends: float, runtime: Runtime) -> None:
    wait = Wait(terms)
    async with aclosing(queued(Clock(), []).looks()) as looks:
        async for look in looks:
            if wait.is_over(look):
                break
    assert look.elapsed == ends


async def test_a_job_that_is_cancelled_meanwhile_ends_it(runtime: Runtime) -> None:
    async def looked() -> None:
        async with aclosing(queued(Clock(), []).looks()) as looks:
            async for _ in looks:
                runtime.tell("job-4712", "JobId=4712 JobState=CANCELLED ExitCode=0:0 NodeList=")

    with pytest.raises(Unreachable, match="The Slurm job 4712 is over: cancelled"):
        await looked()


async def test_a_connection_that_is_lost_is_made_again(runtime: Runtime) -> None:
    class Losing(LocalHost):
        async def run(self, script: str, **options: object) -> Completed:
            if "scontrol" in script and len(made) == 1:
                raise ConnectionLost("The cable.")
            return await super().run(script, **options)  # type: ignore[arg-type]

    made: list[Host] = []

    async def login() -> Host:
        made.append(Losing("login"))
        if len(made) == 2:
            raise Unreachable("Not yet.")
        return made[-1]

    async with aclosing(Queue(login, "4711", sleep=Clock().sleep).jobs()) as jobs:
        job = await anext(jobs)
    assert job.nodes == ("node2", "node1")
    assert len(made) == 3
