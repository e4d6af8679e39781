"""`bringup wait` on a recorded start, played faster than life: the same looks and the same decision, on one clock."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

from bringup.core.errors import ConnectionLost
from bringup.hosts.recording import Recording, load_recording
from bringup.report.replaying import command_reader
from bringup.session.frames import Frames
from bringup.session.headless import Headless, Look
from bringup.session.knowledge import Knowledge
from bringup.session.replay import Replay
from bringup.session.waiting import Terms, Wait

SPEED = 20.0
PATIENCE = 7200.0
"""Seconds of recorded time that are waited beyond the end of a recording, in which nothing more happens."""


class Played(Replay):
    """A replay as a session without a screen; its clock moves only while the one who waits sleeps."""

    def __init__(self, recording: Recording, knowledge: Knowledge, speed: float = SPEED) -> None:
        self.clock = 0.0
        """Seconds on the clock of the one who waits."""
        super().__init__(Frames(recording, knowledge), speed=speed, monotonic=lambda: self.clock)

    @property
    def is_level(self) -> bool:
        return True

    def now(self) -> float:
        """Time goes on where the recording has ended: nothing happens any more."""
        return self.frames.wall + self.recorded()

    def recorded(self) -> float:
        return self.clock * self.speed

    async def wait(self) -> None:
        await asyncio.Event().wait()

    async def pause(self, seconds: float) -> None:
        self.clock += seconds
        await asyncio.sleep(0)


async def waited(recording: Recording, knowledge: Knowledge, terms: Terms | None = None) -> Look:
    """Return the look with which `bringup wait` would have ended; raises ConnectionLost where it never does.

    The waits are of the recorded time, as if all of the world went faster: only the looks are further apart.
    """
    played, wait = Played(recording, knowledge), Wait(terms or Terms())
    headless = Headless(played, monotonic=played.recorded, sleep=played.pause)
    async with aclosing(headless.looks()) as looks:
        async for look in looks:
            if wait.is_over(look):
                return look
            if played.recorded() > recording.end + PATIENCE:
                raise ConnectionLost(f"still {look.verdict.state}: {look.verdict.summary}")
    raise AssertionError("looks never end")


def load(path: Path, knowledge: Knowledge) -> Recording:
    """Return a recording as `bringup replay` reads it."""
    return load_recording(path, command_reader(knowledge))
