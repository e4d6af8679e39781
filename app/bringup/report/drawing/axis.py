"""The axis of time that all charts of a start share."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.verdict import Verdict
from bringup.report.account import Account
from bringup.report.drawing.chart import LEFT, RIGHT, words
from bringup.report.markup import Node, element

_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
_MOST_TICKS = 9
_SERVING = 0.2
"""Serving has no end: it takes at most this share of the axis."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Where moments (epoch seconds) lie on the drawing."""

    begin: float
    end: float

    def x(self, at: float) -> float:
        """Return where a moment is drawn, at the edge where it lies beyond."""
        share = (at - self.begin) / (self.end - self.begin)
        return LEFT + min(1.0, max(0.0, share)) * (RIGHT - LEFT)

    def holds(self, at: float) -> bool:
        """Say whether a moment lies on the axis."""
        return self.begin <= at <= self.end

    def ticks(self) -> tuple[float, ...]:
        """Return round seconds since the begin, a few of them."""
        span = self.end - self.begin
        step = next((step for step in _STEPS if span / step < _MOST_TICKS), 7 * _STEPS[-1])
        return tuple(float(second) for second in range(0, int(span) + 1, step))

    def drawn(self, top: float, bottom: float) -> tuple[Node, ...]:
        """Return the grid from `top` to `bottom`, with the times below it."""
        parts: list[Node] = []
        for second in self.ticks():
            x = self.x(self.begin + second)
            parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
            parts.append(words(x, bottom + 14, clock(second), "soft num", "middle"))
        return tuple(parts)


def axis_of(account: Account) -> Axis | None:
    """Return the axis of a start; None where nothing of it has a time."""
    verdict = account.verdict
    begin = _begin(verdict)
    if begin is None:
        return None
    spans = [view for view in verdict.phases if view.started > 0]
    end = max((view.started + view.seconds for view in spans if view.phase != "serving"), default=begin)
    serves = next((view for view in spans if view.phase == "serving"), None)
    if serves is not None:
        end = max(end, serves.started)
        end += min(serves.seconds, max(5.0, (end - begin) * _SERVING / (1 - _SERVING)))
    elif account.points:
        end = max(end, account.points[-1].at)
    return Axis(begin, max(end, begin + 1.0))


def _begin(verdict: Verdict) -> float | None:
    starts = [view.started for view in verdict.phases if view.started > 0]
    if verdict.since is not None and verdict.since > 0:
        starts.append(verdict.since)
    return min(starts, default=None)


def clock(seconds: float) -> str:
    """Return seconds since the begin as "12:05" or "1:02:05", under a minute as "45 s"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if whole else "0"
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
