"""What is done to a server by an operator: on this console, or by somebody else on another one."""

from __future__ import annotations

from dataclasses import dataclass

CLAIMED = "claimed"
"""The step of an action that has begun, and of which nothing was done to the server yet."""
REFUSED = "refused"
"""The step of an action that ended before anything was done to the server."""


@dataclass(frozen=True, slots=True)
class Action:
    """A stop or restart by an operator."""

    action: str
    step: str
    since: float
    ended: bool = False
    failed: bool = False
    until: float | None = None
    """When the next step is taken, where there is a limit (epoch seconds on the host's clock)."""
    ended_at: float | None = None
    name: str = ""
    """The step as it is written down on the host, or `REFUSED`; "" for none of those."""
    who: str = ""
    """Who does it on another console; "" for what is done on this one."""
    of: tuple[int, int] | None = None
    """PID and start time of the server that was watched when it began: it explains nothing of another one."""

    @property
    def touches(self) -> bool:
        """It has done something to the server, or may have: an end of that may be of its doing."""
        return self.action in ("stop", "restart") and self.name not in (CLAIMED, REFUSED)

    @property
    def launches(self) -> bool:
        """A server is being launched: whose the lines are that come now is known once that is done."""
        return not self.ended and self.name in ("launching", "starting")
