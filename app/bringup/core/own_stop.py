"""An operator's stop or restart: from its first sign on the server is stopped, whatever its processes say or do.

Processes go one by one, ranks complain that their peers are gone, and the launcher may be the last of them.
"""

from __future__ import annotations

from bringup.core.policy import Policy
from bringup.core.state import Action, EndingLine, FaultLine, State
from bringup.core.verdict import Cause
from bringup.core.words import last_line

_AFTERWARDS = 5.0
"""Seconds after the end of an action in which a sample may show for the first time what it did."""
_STAMPS = 1.0
"""Seconds by which a log line may seem to be older than what it follows from: stamps are whole seconds."""


def own_stop(state: State) -> Action | None:
    """Return the stop or restart of the present launch, from this console before another one; None where none is."""
    known = (state.action, state.elsewhere)
    return next((action for action in known if action is not None and _is_of_this(action, state)), None)


def _is_of_this(action: Action, state: State) -> bool:
    began, server = state.attempt.began_at, state.server
    if action.action not in ("stop", "restart") or (began is not None and action.since < began):
        return False
    if action.of is not None and server is not None and (server.pid, server.start) != action.of:
        return False
    # What somebody else has given up explains nothing that happens later.
    gone = state.gone_at
    return not action.who or not action.ended or (gone is not None and _follows(action, gone))


def own_launch(state: State) -> Action | None:
    """Return the launch from this console that the present process comes from, where it failed or is not over."""
    action, began = state.action, state.attempt.began_at
    if action is None or began is None or action.action not in ("restart", "launch") or began < action.since - _STAMPS:
        return None
    if action.ended_at is not None and (not action.failed or began > action.ended_at):
        return None
    return action


def launch_words(action: Action) -> str:
    """Return in one line what is known of the end of a process that a launch from this console has started."""
    if not action.ended:
        return "the new server has ended at once"
    what, colon, said = action.step.partition(": ")
    return f"{what}{colon}{last_line(said)}"


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
    """Return the cause of a server that an operator has stopped."""
    action = own_stop(state)
    who = action.who if action is not None else ""
    text = stop.text if stop is not None and stop.text else f"stopped {by_whom(who)}"
    line = stop.line or None if stop is not None else None
    is_over = action is None or action.ended
    # While it goes on there is nothing that the operator should do.
    kind = "elsewhere" if who else "operator"
    kind = "restart" if action is not None and action.action == "restart" and action.failed else kind
    advice = policy.advice.get(f"killed:{kind}", "") if is_over else ""
    return Cause("killed", text, line, None, secondary=False, advice=advice)


def by_whom(who: str) -> str:
    """Return who has done it, as the rest of a sentence; `who` is "" for the operator of this console."""
    return f"by {who}" if who else "from this console"


def _follows(action: Action, at: float) -> bool:
    """Say whether what happened at a moment may be of the action's doing."""
    until = action.ended_at
    return action.since - _STAMPS <= at and (until is None or at <= until + _AFTERWARDS)
