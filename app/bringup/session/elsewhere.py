"""What others do from another console: to the watched server, or to bring up the one that is looked for."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.action import Action
from bringup.core.events import ActionStep, Server
from bringup.core.own_stop import own_stop
from bringup.core.state import State
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Unfinished
from bringup.session.deeds import Kind
from bringup.session.left_over import is_over, may_be_meant

_ENDS: dict[str, Kind] = {"stop": "stop", "restart": "restart"}
_KINDS: dict[str, Kind] = {**_ENDS, "launch": "launch"}
_NOBODY = "somebody else"
_ROUNDED = 5.0
"""Seconds by which two looks may differ in when an action was begun: it is told in whole seconds, and late."""
_AFTERWARDS = 120.0
"""Seconds after the end of a server in which is asked who has ended it: a stop waits for GPU memory and port."""


def told_elsewhere(
    found: Sequence[Unfinished],
    state: State,
    now: float,
    *,
    token: str,
    narrowed: tuple[int | None, int | None] = (None, None),
) -> tuple[ActionStep, ...]:
    """Return what is news at a moment (epoch seconds) of what others do to it; `token` is that of this console.

    So its end is explained where somebody has ordered it. While there is no server it is what may bring up the one that
    is looked for: `narrowed` to a port or a PID, what is of another one is left out.
    """
    known = state.elsewhere
    theirs = [left for left in found if left.claim.token != token]
    if state.server is not None:
        left = _of(state.server, theirs)
    else:
        left = _coming([each for each in theirs if _is_sought(each, state, narrowed)], known, now)
    if left is not None:
        step = _step(left, now)
        told = known and (known.action, known.step, known.ended, known.failed, known.who)
        return () if told == (step.action, step.step, step.ended, step.failed, step.who) else (step,)
    if known is None or known.ended:
        return ()
    done = f"The {known.action} by {known.who} is over."
    return (ActionStep(at=now, action=_KINDS[known.action], step=done, ended=True, who=known.who, since=known.since),)


def _of(server: Server, theirs: Sequence[Unfinished]) -> Unfinished | None:
    watched = (server.pid, server.start)
    return next((left for left in theirs if left.action in _ENDS and left.server == watched), None)


def _is_sought(left: Unfinished, state: State, narrowed: tuple[int | None, int | None]) -> bool:
    """Say whether it may bring up the server that is looked for: the port is the one that its old log tells."""
    same = state.attempt.port is None or left.port in (None, state.attempt.port)
    return left.action in ("restart", "launch") and same and may_be_meant(left, *narrowed)


def _coming(sought: Sequence[Unfinished], known: Action | None, now: float) -> Unfinished | None:
    """Return what is under way, or what has become of the one that was: what was cut off before tells of no server."""
    told = next((left for left in sought if known is not None and not known.ended and _is(left, known, now)), None)
    return told or next((left for left in sought if left.busy), None)


def _is(left: Unfinished, known: Action, now: float) -> bool:
    same = (left.action, left.who or _NOBODY) == (known.action, known.who)
    return same and abs(now - left.began - known.since) < _ROUNDED


async def told_afterwards(host: Host, state: State, now: float) -> tuple[ActionStep, ...]:
    """Return who has ended the watched server, where that was over before anybody could look; raises ConnectionLost.

    It is written down with the end of the action, which may come some seconds after that of the server.
    """
    server, gone = state.server, state.gone_at
    if server is None or gone is None or own_stop(state) or now - gone > _AFTERWARDS:
        return ()
    known = state.elsewhere
    if known is not None and (known.ended_at is None or known.ended_at >= gone):
        return ()
    told = await control.last_end(host, server)
    if told is None:
        return ()
    who = told.who or _NOBODY
    done = f"The {told.action} by {who} is over."
    since = min(now - told.began, gone)
    return (ActionStep(at=now, action=_KINDS[told.action], step=done, ended=True, who=who, since=since),)


def _step(left: Unfinished, now: float) -> ActionStep:
    said = left.doing if left.busy else left.outlook
    return ActionStep(
        at=now,
        action=_KINDS[left.action],
        step=f"{said[0].upper()}{said[1:]}.",
        ended=not left.busy,
        failed=not (left.busy or is_over(left)),
        name=left.step,
        who=left.who or _NOBODY,
        since=now - left.began,
    )
