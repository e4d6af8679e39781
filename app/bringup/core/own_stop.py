"""The operator's own stop or restart: from its first sign on the server is stopped, whatever its processes say or do.

Processes go one by one, ranks complain that their peers are gone, and the launcher may be the last of them.
"""

from __future__ import annotations

from bringup.core.policy import Policy
from bringup.core.state import Action, EndingLine, FaultLine, State
from bringup.core.verdict import Cause

_AFTERWARDS = 5.0
"""Seconds after the end of an action in which a sample may show for the first time what it did."""
_STAMPS = 1.0
"""Seconds by which a log line may seem to be older than what it follows from: stamps are whole seconds."""


def own_stop(state: State) -> Action | None:
    """Return the operator's stop or restart of the present launch; None where there is none."""
    action, began = state.action, state.attempt.began_at
    if action is None or action.action not in ("stop", "restart") or (began is not None and action.since < began):
        return None
    return action


def is_stopped_here(state: State, stop: EndingLine | None, root: FaultLine | None) -> bool:
    """Say whether the operator's stop has shown: the server says that it ends, has ended, or parts of it have.

    `root` is its first real error: one from before the stop is what ended it.
    """
    action = own_stop(state)
    if action is None:
        return False
    if root is not None and not root.secondary and not root.after_kill and not _follows(action, root.at):
        return False
    if stop is not None or state.gone_at is not None:
        return True
    signs = [rank.gone_at for rank in state.attempt.ranks if rank.gone_at is not None]
    return any(_follows(action, at) for at in (*signs, *([root.at] if root is not None else [])))


def stopped_here(state: State, stop: EndingLine | None, policy: Policy) -> Cause:
    """Return the cause of a server that the operator has stopped."""
    text = stop.text if stop is not None and stop.text else "stopped from this console"
    line = stop.line or None if stop is not None else None
    action = own_stop(state)
    is_over = action is None or action.ended
    # While it goes on there is nothing that the operator should do.
    advice = policy.advice.get("killed:operator", "") if is_over else ""
    return Cause("killed", text, line, None, secondary=False, advice=advice)


def _follows(action: Action, at: float) -> bool:
    """Say whether what happened at a moment may be of the action's doing."""
    until = action.ended_at
    return action.since - _STAMPS <= at and (until is None or at <= until + _AFTERWARDS)
