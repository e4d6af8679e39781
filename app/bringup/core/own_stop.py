"""An operator's stop or restart: from its first sign on the server is stopped, whatever its processes say or do.

Processes go one by one, ranks complain that their peers are gone, and the launcher may be the last of them.
"""

from __future__ import annotations

from dataclasses import replace

from bringup.core.action import REFUSED, Action
from bringup.core.kernel import explaining_line
from bringup.core.policy import Policy
from bringup.core.state import EndingLine, FaultLine, State
from bringup.core.verdict import Cause
from bringup.core.words import last_line

_AFTERWARDS = 5.0
"""Seconds after the end of an action in which a sample may show for the first time what it did."""
_STAMPS = 1.0
"""Seconds by which a log line may seem to be older than what it follows from: stamps are whole seconds."""
_LATE = 5.0
"""Seconds by which what another console does may have begun earlier than is told: in whole seconds, after a look."""
_DRAINS = 300.0
"""Seconds after a stop from here that was given up or cut off in which a server that says nothing may end by it.

What it was sent stays with it: SGLang drains without a limit of its own, and a daemon kills after some time.
"""


def own_stop(state: State, stop: EndingLine | None = None, root: FaultLine | None = None) -> Action | None:
    """Return the stop or restart that ends, or has ended, the present launch; None where it was none.

    One from this console counts before another one. `stop` is what the server says of its end; `root` is its first real
    error: one from before the stop is what ended it. What is done here since it has ended is told in its place.
    """
    known = [each for each in (state.acted, state.elsewhere) if each is not None and _is_of_this(each, state)]
    found = next((each for each in known if _ends(each, state, stop, root)), None)
    if found is None:
        found = next((each for each in known if _may_end(each, state, stop, root)), None)
    newest = state.action
    if found is None or newest is None or not newest.touches or not _is_of_this(newest, state):
        return found
    return newest if found is state.acted or had_gone(newest, state) else found


def _is_of_this(action: Action, state: State) -> bool:
    began, server = state.attempt.began_at, state.server
    if action.action not in ("stop", "restart") or (began is not None and action.since < began):
        return False
    return action.of is None or server is None or (server.pid, server.start) == action.of


def _ends(action: Action, state: State, stop: EndingLine | None, root: FaultLine | None) -> bool:
    """Say whether its doing has shown: the server says that it ends, has ended, or parts of it have.

    What is over, be it done or given up, explains nothing that happens later.
    """
    if _is_ended_by(action, root) or had_gone(action, state):
        return False
    if action.who and action.ended:
        return state.gone_at is not None and _follows(action, state.gone_at)
    if state.gone_at is not None and _ended_within(action, state.gone_at, state.alive_at):
        return True
    if stop is not None and (not action.ended or _follows(action, stop.at)):
        return True
    signs = [rank.gone_at for rank in state.attempt.ranks if rank.gone_at is not None]
    return any(_follows(action, at) for at in (*signs, *([root.at] if root is not None else [])))


def _may_end(action: Action, state: State, stop: EndingLine | None, root: FaultLine | None) -> bool:
    """Say whether it may have ended the server after it was given up or cut off, where nothing else says why."""
    gone, until = state.gone_at, action.ended_at
    if action.who or not action.failed or gone is None or until is None or had_gone(action, state):
        return False
    if stop is not None or _is_ended_by(action, root) or explaining_line(state) is not None:
        return False
    return gone <= until + _DRAINS


def _is_ended_by(action: Action, root: FaultLine | None) -> bool:
    """Say whether an error of its own has ended the server, and not the action."""
    return root is not None and not root.secondary and not root.after_kill and not _follows(action, root.at)


def had_gone(action: Action, state: State) -> bool:
    """Say whether the server had ended before it was begun."""
    return state.gone_at is not None and state.gone_at < action.since - (_LATE if action.who else _STAMPS)


def has_ended_since(state: State, stop: Action) -> bool:
    """Say whether the last words of a stop that was given up are not true any more: what was left has ended since."""
    gone, ended_at = state.gone_at, stop.ended_at
    is_later = gone is not None and ended_at is not None and gone > ended_at
    return stop.action == "stop" and is_later and not state.orphans


def _ended_within(action: Action, gone: float, alive: float | None) -> bool:
    """Say whether a server was ended by then: what became of an action may be told later than that is seen.

    Where nobody could look it was gone at any time since it was seen `alive`.
    """
    since = gone if alive is None else min(gone, alive)
    return action.ended_at is None or since <= action.ended_at + _AFTERWARDS


def own_launch(state: State) -> Action | None:
    """Return the launch from this console that the present process comes from, where it failed or is not over."""
    action, began, server = state.action, state.attempt.began_at, state.server
    if action is None or began is None or action.action not in ("restart", "launch") or action.name == REFUSED:
        return None
    if began < action.since - _STAMPS or (server is not None and (server.pid, server.start) == action.of):
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


def stopped_by(state: State, action: Action, stop: EndingLine | None, policy: Policy) -> Cause:
    """Return the cause of a server that an operator has stopped."""
    cause = _stopped_by(action, stop, policy)
    # Of an end that came late no line speaks: the kernel log may know better.
    acted, gone = state.acted, state.gone_at
    is_late = stop is None and gone is not None and acted is not None and not _ended_within(acted, gone, state.alive_at)
    return replace(cause, channel="processes") if is_late and not action.who else cause


def _stopped_by(action: Action, stop: EndingLine | None, policy: Policy) -> Cause:
    text = stop.text if stop is not None and stop.text else f"stopped {by_whom(action.who)}"
    line = stop.line or None if stop is not None else None
    kind = "elsewhere" if action.who else "operator"
    kind = "restart" if action.action == "restart" and action.failed else kind
    # While it goes on there is nothing that the operator should do.
    advice = policy.advice.get(f"killed:{kind}", "") if action.ended else ""
    return Cause("killed", text, line, None, secondary=False, advice=advice)


def by_whom(who: str) -> str:
    """Return who has done it, as the rest of a sentence; `who` is "" for the operator of this console."""
    return f"by {who}" if who else "from this console"


def _follows(action: Action, at: float) -> bool:
    """Say whether what happened at a moment may be of the action's doing."""
    until = action.ended_at
    return action.since - _STAMPS <= at and (until is None or at <= until + _AFTERWARDS)
