"""How a rank reads a checkpoint: as SGLang's multi-thread loader does (0.5.10+), without the threads.

The loader opens up to eight files ahead of the one that is being consumed, so nine are mapped at most; a file leaves
the maps when its tensors are copied (reference run of 0.5.23 with eight threads).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from bringup.demo.checkpoint import Mapped
from bringup.demo.plan import Plan

AHEAD = 9
LEAD = 4
"""Steps from the first file opened to the first one consumed."""
SLICES = 2
"""Looks at the open files per step: pages are touched little by little, so that fault counters move."""


class Loader:
    """Reads files one after another in a given time."""

    def __init__(self, plan: Plan, rank: int) -> None:
        self._plan = plan
        self._rank = rank
        self._open: deque[Mapped] = deque()

    def read(
        self, paths: Sequence[Path], seconds: float, *, opened: Callable[[int], None], consumed: Callable[[], None]
    ) -> None:
        """Map and consume `paths` in about `seconds` of the original; calls back for each file opened and consumed."""
        lead = min(LEAD, len(paths))
        steps = len(paths) + lead
        next_file = done = 0
        for step in range(1, steps + 1):
            while next_file < min(len(paths), 2 * step, done + AHEAD):
                self._open.append(Mapped(paths[next_file]))
                next_file += 1
                opened(next_file)
            self._step(seconds / steps * self._jitter(step))
            if step > lead:
                self._open.popleft().close()
                done += 1
                consumed()

    def _step(self, seconds: float) -> None:
        for part in range(1, SLICES + 1):
            self._plan.sleep(seconds / SLICES)
            for place, mapped in enumerate(self._open):
                mapped.touch((part / SLICES + LEAD - place) / (LEAD + 1))

    def _jitter(self, step: int) -> float:
        """Return a factor around 1 that differs by step and rank but is the same in every run."""
        return 1 + 0.35 * math.sin(1.7 * step + 2.3 * self._rank)
