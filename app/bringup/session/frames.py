"""A recording played once from end to end: what was known at every moment, so that going anywhere takes no time.

States share all that did not change between them: one for every moment costs little more than the samples do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from bringup.core.assess import assess
from bringup.core.policy import Policy
from bringup.core.state import State
from bringup.core.verdict import StateName, Verdict
from bringup.hosts.recording import Recording
from bringup.session.knowledge import Knowledge
from bringup.session.player import Player, past_policy

GRAIN = 0.1
"""Seconds of recorded time of which one state is kept: finer than any screen draws."""
LOOK = 1.0
"""Seconds of recorded time between two looks at a state to which nothing happens."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What was known from `t` (seconds since the begin) on."""

    t: float
    state: State
    lines: int
    """Lines that the log had."""
    tail: bytes
    """The bar that was being drawn."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment at which the verdict or the phase became another one."""

    t: float
    state: StateName
    says: str
    """What became of it, in a few words."""


class Frames:
    """All moments of a recording; making it decodes the whole of it, which blocks."""

    def __init__(self, recording: Recording, knowledge: Knowledge) -> None:
        self.wall = recording.wall
        self.end = recording.end
        self.policy: Policy = past_policy(knowledge)
        player = Player(recording, knowledge)
        self.lines: list[bytes] = []
        self._frames = [Frame(float("-inf"), player.state, 0, b"")]
        opened = float("-inf")
        for t, item in recording.items:
            player.take(t, item)
            self.lines += player.take_lines()
            frame = Frame(t, player.state, len(self.lines), player.open_line())
            if t < opened + GRAIN:
                self._frames[-1] = frame
            else:
                self._frames.append(frame)
                opened = t
        self._times = [frame.t for frame in self._frames]

    def __len__(self) -> int:
        return len(self._frames)

    def at(self, t: float) -> Frame:
        """Return what was known at a moment."""
        return self._frames[bisect_right(self._times, t) - 1]

    def number(self, t: float) -> int:
        """Return how many frames there were by a moment."""
        return bisect_right(self._times, t)

    def verdict(self, t: float) -> Verdict:
        """Judge what was known at a moment, then."""
        return assess(self.at(t).state, self.wall + t, self.policy)

    def marks(self) -> Iterator[Mark | float]:
        """Yield the changes of verdict and phase in their order, and between them how far it has looked."""
        said: Hashable = None
        for t in self._moments():
            verdict = self.verdict(t)
            now = (verdict.state, verdict.phase, verdict.role, verdict.attempt)
            if now != said:
                said = now
                yield Mark(t, verdict.state, _words(verdict))
            yield t

    def _moments(self) -> Iterator[float]:
        """Yield every moment at which something was seen, and every second between."""
        tick = 0.0
        for t in (*(time for time in self._times if time >= 0), self.end):
            while tick < t:
                yield tick
                tick += LOOK
            yield t


def _words(verdict: Verdict) -> str:
    phase = " ".join(filter(None, (verdict.role, verdict.phase)))
    return f"{verdict.state}: {phase}" if phase else verdict.state
