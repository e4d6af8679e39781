"""A session without a screen: when it knows enough to be believed, and what it says from then on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from bringup.core.agreement import awaits_answer
from bringup.core.arrival import without_arrival
from bringup.core.assess import assess
from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.policy import Policy
from bringup.core.state import State
from bringup.core.verdict import Verdict

EVERY = 0.1
"""Seconds between two looks."""
SAMPLES = 2
"""Samples of the processes that one answer rests on."""
AT_LEAST = 1.0
"""Seconds for which a host is watched before anything is said of it: the distance of two samples."""
AT_MOST = 30.0
"""Seconds after which what is known is said, whatever has not answered."""
HTTP_AT_MOST = 7.0
"""Seconds for which an answer of the port is waited for: one that times out takes five, and is asked for after one."""


class Watched(Protocol):
    """What a session must offer to be watched without a screen."""

    @property
    def state(self) -> State:
        """The newest state."""
        ...

    @property
    def is_level(self) -> bool:
        """All that the logs held has been read."""
        ...

    @property
    def policy(self) -> Policy:
        """What verdicts are made with."""
        ...

    def now(self) -> float:
        """Epoch seconds on the watched host's clock."""
        ...

    async def wait(self) -> None:
        """Raise a BringupError when the watch ends by itself."""
        ...

    async def unfinished(self) -> object:
        """Ask the host who acts on the server; what is told of that shows in the state."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """What is known at a moment."""

    verdict: Verdict
    state: State
    settled: bool
    """The log was read to its end and the channels have answered: the verdict can be relied on."""
    elapsed: float
    """Seconds since the first look, on this machine's clock."""
    watched: float
    """Seconds between the first and the newest sample of the processes; 0 where there are none."""


class Looking:
    """Looks again and again while a watch goes on; what a look is, and when all is lost, is told by its subclasses."""

    lost = "The connection was lost."

    def __init__(
        self, wait: Callable[[], Coroutine[Any, Any, None]], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._wait = wait
        self._sleep = sleep

    async def looks(self) -> AsyncGenerator[Look, None]:
        """Yield a look ten times a second, for ever; raises BringupError when the watch ends by itself."""
        watch = asyncio.create_task(self._wait(), name="watch")
        try:
            while True:
                if watch.done():
                    await watch
                yield self.look()
                await self._sleep(EVERY)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def once(self) -> Look:
        """Return the first look that can be relied on; raises ConnectionLost when the connection is lost before."""
        async with aclosing(self.looks()) as looks:
            async for look in looks:
                if self.is_lost(look):
                    raise ConnectionLost(look.state.link.why or self.lost, "Nothing can be said now.")
                if look.settled:
                    return look
        raise AssertionError("looks never end by themselves")

    def look(self) -> Look:
        """Look now."""
        raise NotImplementedError

    async def ask_others(self) -> None:
        """Have every host asked what others do to the server: the next look tells; who cannot answer is left out."""
        raise NotImplementedError

    def is_lost(self, look: Look) -> bool:
        """Say whether there is no connection any more that could tell something."""
        return look.state.link.status == "lost"


class Headless(Looking):
    """Looks at a session. The clock and the pause between two looks are injected by tests."""

    def __init__(
        self,
        session: Watched,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(session.wait, sleep)
        self._session = session
        self._monotonic = monotonic
        self._begun = monotonic()
        self._coming = _Coming()

    def look(self) -> Look:
        """Look now."""
        state, here = self._session.state, self._monotonic()
        self._coming.see(state, here)
        verdict = assess(without_arrival(state), self._session.now(), self._session.policy)
        settled = self._coming.is_settled(state, verdict, here, level=self._session.is_level)
        return Look(verdict, state, settled, here - self._begun, self._coming.span(state))

    async def ask_others(self) -> None:
        """Have the host asked what others do to the server: the next look tells."""
        with suppress(BringupError):
            await self._session.unfinished()


class _Coming:
    """How much of a host has been seen since the connection was made."""

    def __init__(self) -> None:
        self.arrived: float | None = None
        """When the first sample of the watched server was taken, by the host's clock."""
        self._server: tuple[int, int] | None = None
        self._since: tuple[str, float] | None = None
        self._begun = 0.0
        self._samples = 0
        self._newest: float | None = None

    def see(self, state: State, here: float) -> None:
        """Take note of a state at a moment of this machine."""
        server = (state.server.pid, state.server.start) if state.server is not None else None
        if server != self._server:
            self._server, self._samples = server, 0
        link = (state.link.status, state.link.since)
        if link != self._since:
            self._since, self._begun = link, here
            self._samples, self._newest = 0, state.sampled_at
        if state.sampled_at is not None and state.sampled_at != self._newest:
            self._newest = state.sampled_at
            self._samples += 1
            if self.arrived is None:
                self.arrived = state.sampled_at

    def span(self, state: State) -> float:
        """Return the seconds from the first to the newest sample of this server."""
        if state.arrived_at is None or state.sampled_at is None:
            return 0.0
        return max(0.0, state.sampled_at - state.arrived_at)

    def is_settled(self, state: State, verdict: Verdict, here: float, *, level: bool) -> bool:
        """Say whether enough is known; without a connection it never is."""
        if state.link.status != "up":
            return False
        watched = here - self._begun
        if watched < AT_LEAST:
            return False
        if watched >= AT_MOST:
            return True
        closed = dict(state.closed)
        if state.server is None or state.gone_at is not None:
            return level and (bool(state.seeks) or state.gone_at is not None or "search" in closed)
        sampled = self._samples >= SAMPLES or "processes" in closed
        return level and sampled and (_asked(state, verdict, closed) or watched >= HTTP_AT_MOST)


def _asked(state: State, verdict: Verdict, closed: dict[str, str]) -> bool:
    """The port has answered, where its answer counts: once the log says ready, and where there is no log to say it."""
    counts = verdict.phase == "serving" or (verdict.phase == "warmup" and "log" in closed)
    return not counts or state.http is not None or not awaits_answer(state)
