"""How ranks and GPU memory went over time: a sample a second of one start, thinned so that it never grows large."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.events import Phase, Role
from bringup.core.state import State
from bringup.core.verdict import RankView, Verdict

MOST = 600
"""Samples that are kept at most; beyond it every other one is dropped, and half as many are taken."""
EVERY = 1.0
"""Seconds between two samples of a start that is not long."""
MOST_RANKS = 64
"""Ranks of which samples are kept."""
_AFTER_READY = 60.0
"""Seconds of serving that are still part of a start, or a quarter of what the start took where that is more."""


@dataclass(frozen=True, slots=True)
class RankPoint:
    """One rank at one moment, as it was shown then."""

    rank: int
    phase: Phase | None
    role: Role | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of a start."""

    at: float
    """Epoch seconds on the watched host's clock."""
    ranks: tuple[RankPoint, ...]
    gpus: tuple[tuple[int, int], ...]
    """(index, MiB in use) of the GPUs that told it."""


class Series:
    """The samples of the newest start of what is watched."""

    def __init__(self, most: int = MOST) -> None:
        self._most = max(2, most)
        self._every = EVERY
        self._points: list[Point] = []
        self._attempt = 0
        self._server: tuple[int, int] | None = None

    @property
    def points(self) -> tuple[Point, ...]:
        """The samples in order of time."""
        return tuple(self._points)

    def is_due(self, at: float) -> bool:
        """Say whether a sample taken at `at` would be kept: judging a state only for it costs."""
        return not self._points or at - self._points[-1].at >= self._every

    def add(self, state: State, verdict: Verdict, *, last: bool = False) -> None:
        """Take a sample where one is due; another start begins anew, and long serving is no start any more.

        `last`: nothing happens for a while after it, so that it takes the place of one that was taken just before.
        """
        self._notice(state)
        if _is_long_up(verdict):
            return
        if not self.is_due(verdict.now):
            if not last or verdict.now < self._points[-1].at:
                return
            self._points.pop()
        ranks = tuple(_rank(view) for view in verdict.ranks[:MOST_RANKS])
        gpus = tuple((gpu.index, gpu.used) for gpu in state.gpu.gpus if gpu.used is not None)
        self._points.append(Point(verdict.now, ranks, gpus))
        if len(self._points) > self._most:
            # The newest one stays, so that a chart always reaches to where it can.
            self._points = self._points[-1::-2][::-1]
            self._every *= 2

    def _notice(self, state: State) -> None:
        """Forget what was sampled of an earlier launch."""
        server = (state.server.pid, state.server.start) if state.server is not None else self._server
        moved = self._server is not None and server != self._server
        if moved or (self._attempt and state.attempt.number != self._attempt):
            self._points, self._every = [], EVERY
        self._server, self._attempt = server, state.attempt.number


def _rank(view: RankView) -> RankPoint:
    return RankPoint(view.rank, view.phase, view.role, view.progress)


def _is_long_up(verdict: Verdict) -> bool:
    serving = next((view for view in verdict.phases if view.phase == "serving"), None)
    if serving is None or verdict.state not in ("ready", "standby"):
        return False
    took = serving.started - (verdict.since or serving.started)
    return serving.seconds > max(_AFTER_READY, took / 4)
