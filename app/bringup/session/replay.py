"""A recording under the screen: a console whose clock is played, stopped and moved by the operator."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.core.policy import Policy
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.session.console import Findings, Kept, Orphan, Recorded, StopPlan, Unfinished
from bringup.session.frames import Frames, Mark

SPEEDS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
_FRAMES = 1 << 32
"""More than a recording has."""
READ_ONLY = "This is a recording: nothing can be done to what was recorded."
_REST = 0.02
"""Seconds that the search for marks gives way to the screen, after as many of work."""


class Replay:
    """Implements `session.console.Console` over frames; only the position, and whether it moves, ever change."""

    def __init__(
        self,
        frames: Frames,
        *,
        speed: float = 1.0,
        at: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.frames = frames
        self.speed = speed
        self.seeks = 0
        """Grows when the position was moved: what the log showed before is not what it shows now."""
        self.marks: list[Mark] = []
        self.looked_until = 0.0
        """How far the marks are known."""
        self._monotonic = monotonic
        self._playing_since: float | None = None
        self._from = self._within(at)
        self._shown = 0
        self._revision = 0
        self._search: asyncio.Task[None] | None = None
        self.play()

    # --- the tape deck ---

    @property
    def position(self) -> float:
        """Seconds since the begin."""
        if self._playing_since is None:
            return self._from
        return self._within(self._from + (self._monotonic() - self._playing_since) * self.speed)

    @property
    def is_playing(self) -> bool:
        """It moves."""
        return self._playing_since is not None and self.position < self.frames.end

    def play(self) -> None:
        """Let it run from where it is."""
        self._from, self._playing_since = self.position, self._monotonic()
        self._revision += 1

    def pause(self) -> None:
        """Stop where it is."""
        self._from, self._playing_since = self.position, None
        self._revision += 1

    def toggle(self) -> None:
        """Stop, or go on; at the end, begin anew."""
        if self.is_playing:
            self.pause()
            return
        if self.position >= self.frames.end:
            self.seek(0.0)
        self.play()

    def seek(self, t: float) -> None:
        """Go to a moment; it goes on moving where it moved."""
        moving = self._playing_since is not None
        self._from, self._playing_since = self._within(t), self._monotonic() if moving else None
        self.seeks += 1
        self._revision += 1
        self._shown = 0

    def step(self, direction: int) -> str:
        """Go to the next change of verdict or phase, or the one before, and stop there; return what is to be said."""
        here = self.position
        # A moment after a mark is still at it: who plays on and steps back means the one before.
        ahead = [mark for mark in self.marks if mark.t > here + 1e-6]
        behind = [mark for mark in self.marks if mark.t < here - (self.speed if self.is_playing else 1e-6)]
        found = next(iter(ahead), None) if direction > 0 else next(reversed(behind), None)
        if found is None and direction > 0 and self.looked_until < self.frames.end:
            return "What comes after this is still being looked through."
        if found is None:
            return f"Nothing changes {'after' if direction > 0 else 'before'} this."
        self.seek(found.t)
        self.pause()
        return ""

    def faster(self, direction: int) -> None:
        """Play at the next speed up or down."""
        if self._playing_since is not None:
            self.play()
        steps = [speed for speed in SPEEDS if (speed > self.speed if direction > 0 else speed < self.speed)]
        if steps:
            self.speed = steps[0] if direction > 0 else steps[-1]
            self._revision += 1

    # --- the marks ---

    def look_through(self) -> None:
        """Begin to look for the changes of verdict and phase, beside whatever else is done."""
        self._search = asyncio.create_task(self._look_through(), name="marks")

    async def close(self) -> None:
        """Look no more."""
        if self._search is not None:
            self._search.cancel()
            await asyncio.gather(self._search, return_exceptions=True)

    async def _look_through(self) -> None:
        worked = self._monotonic()
        for found in self.frames.marks():
            if isinstance(found, Mark):
                self.marks.append(found)
                self._revision += 1
            else:
                self.looked_until = found
            if self._monotonic() - worked > _REST:
                await asyncio.sleep(_REST)
                worked = self._monotonic()
        self.looked_until = self.frames.end
        self._revision += 1

    # --- what a screen asks ---

    @property
    def rev(self) -> int:
        """Grows with every change of state or log, and with every move."""
        return self._revision * _FRAMES + self.frames.number(self.position)

    @property
    def state(self) -> State:
        """What was known at this moment."""
        return self.frames.at(self.position).state

    @property
    def read_only(self) -> bool:
        """Nothing can be done to what was."""
        return True

    @property
    def why_read_only(self) -> str:
        """Why that is, in a sentence."""
        return READ_ONLY

    @property
    def policy(self) -> Policy:
        """The thresholds; no earlier starts are known."""
        return self.frames.policy

    def now(self) -> float:
        """Epoch seconds on the recorded host's clock."""
        return self.frames.wall + self.position

    def verdict(self) -> Verdict:
        """Judge what was known at this moment."""
        return self.frames.verdict(self.position)

    def take_lines(self) -> list[bytes]:
        """Return the log lines since the last call; after a move, all up to here."""
        shown, self._shown = self._shown, max(self._shown, self.frames.at(self.position).lines)
        return self.frames.lines[shown : self._shown]

    def open_line(self) -> bytes:
        """Return the bar that was being drawn."""
        return self.frames.at(self.position).tail

    async def plan(self, left: Unfinished | None = None) -> StopPlan:
        """Refuse."""
        _refuse()

    async def stop(self, plan: StopPlan, signal: str = "") -> None:
        """Refuse."""
        _refuse()

    async def restart(self, plan: StopPlan, argv: Sequence[str] | None = None) -> None:
        """Refuse."""
        _refuse()

    async def orphans(self) -> tuple[Orphan, ...]:
        """Return none: nobody looked."""
        return ()

    async def clear(self, chosen: Sequence[Orphan]) -> None:
        """Refuse."""
        _refuse()

    async def unfinished(self) -> Unfinished | None:
        """Return nothing: it is over."""
        return None

    async def kept(self, left: Unfinished) -> Kept | None:
        """Return nothing: it is over."""
        return None

    async def resume(self, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None) -> None:
        """Refuse."""
        _refuse()

    async def discard(self, left: Unfinished) -> None:
        """Refuse."""
        _refuse()

    async def diagnose(self) -> Findings:
        """Refuse."""
        _refuse()

    @property
    def recorded(self) -> Recorded:
        """Nothing is: it was."""
        return ""

    async def record(self) -> str:
        """Refuse."""
        _refuse()

    def choose(self, server: Server) -> None:
        """Pass over: what was not watched was not recorded."""

    def _within(self, t: float) -> float:
        return min(max(0.0, t), self.frames.end)


def _refuse() -> NoReturn:
    raise BringupError(READ_ONLY, "`bringup watch HOST` watches a server.")
