"""A session that a test plays: a timeline, and a clock that moves only in the pauses between two looks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from timeline import Timeline

from bringup.core.errors import BringupError
from bringup.core.events import LinkChanged
from bringup.core.state import State
from bringup.session.headless import Headless, Look


class Played:
    """A session whose state is a timeline's; every second `second` is called with its number."""

    def __init__(self, timeline: Timeline, second: Callable[[int], None] = lambda _: None) -> None:
        self.timeline = timeline
        self.is_level = True
        self.failure: BringupError | None = None
        self.clock = 0.0
        self.policy = timeline.policy
        self._second = second
        self._ticks = 0
        timeline.add(LinkChanged(at=timeline.now, status="up"))

    @property
    def state(self) -> State:
        return self.timeline.state

    def now(self) -> float:
        return self.timeline.now

    async def wait(self) -> None:
        while self.failure is None:
            await asyncio.sleep(0)
        raise self.failure

    async def pause(self, seconds: float) -> None:
        """Let time pass for the one who looks."""
        self.clock += seconds
        self.timeline.wait(seconds)
        self._ticks += 1
        if self._ticks % 10 == 0:
            self._second(self._ticks // 10)
        await asyncio.sleep(0)

    def headless(self) -> Headless:
        return Headless(self, monotonic=lambda: self.clock, sleep=self.pause)

    async def until(self, over: Callable[[Look], bool], most: float = 7200.0) -> Look:
        """Look until it is over."""
        async with aclosing(self.headless().looks()) as looks:
            async for look in looks:
                if over(look):
                    return look
                assert self.clock < most, f"still {look.verdict.state} after {most} s: {look.verdict.summary}"
        raise AssertionError("looks never end")
