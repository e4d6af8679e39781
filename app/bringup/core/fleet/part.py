"""One node of a start that runs on several hosts, with the verdict about it alone."""

from __future__ import annotations

from dataclasses import dataclass

from bringup.core.agreement import is_worker
from bringup.core.causes import root_line
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.core.whose import without_later

WORKING = ("starting", "slow")
ENDED = ("failed", "stopped")
SERVING = ("ready", "degraded")


@dataclass(frozen=True, slots=True)
class Part:
    """What is known of one node, and what was said of it when nothing else was looked at."""

    node: str
    """As the operator named the host."""
    state: State
    verdict: Verdict

    @property
    def is_known(self) -> bool:
        """A launch was seen there."""
        return self.verdict.state not in ("waiting", "unknown")

    @property
    def is_linked(self) -> bool:
        """There is a connection to it now."""
        return self.state.link.status == "up"

    @property
    def is_working(self) -> bool:
        """It goes on by itself."""
        return self.verdict.state in WORKING

    @property
    def has_ended(self) -> bool:
        """Its part of the start is over."""
        return self.verdict.state in ENDED

    def ended_at(self, now: float) -> float:
        """Return when its first error was printed or its launcher was gone, on the clock that `now` is of."""
        attempt = without_later(self.state)[0].attempt
        root = root_line(attempt)
        told = [line.at for line in attempt.endings]
        ends = [root.at] if root is not None else [at for at in (*told[:1], self.state.gone_at) if at is not None]
        return self.on_clock(min(ends, default=self.verdict.now), now)

    def on_clock(self, at: float, now: float) -> float:
        """Return a time of this node's clock on the clock that shows `now`: the clocks of two hosts differ."""
        return at - self.verdict.now + now


def head_of(parts: tuple[Part, ...]) -> Part:
    """Return the node that has the HTTP server: by its arguments, else the first that is not known to be a worker."""
    known = [part for part in parts if part.is_known and not is_worker(part.state)]
    unknown = [part for part in parts if not part.is_known]
    return next(iter([*known, *unknown]), parts[0])
