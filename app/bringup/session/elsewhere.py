"""What others do to the watched server from another console."""

from __future__ import annotations

from collections.abc import Sequence

from bringup.core.events import ActionStep
from bringup.core.own_stop import own_stop
from bringup.core.state import State
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Unfinished
from bringup.session.deeds import Kind
from bringup.session.left_over import is_over

_KINDS: dict[str, Kind] = {"stop": "stop", "restart": "restart"}
_NOBODY = "somebody else"
_AFTERWARDS = 120.0
"""Seconds after the end of a server in which is asked who has ended it: a stop waits for GPU memory and port."""


def told_elsewhere(found: Sequence[Unfinished], state: State, now: float, *, token: str) -> tuple[ActionStep, ...]:
    """Return what is news at a moment (epoch seconds) of what others do to it; `token` is that of this console.

    So its end is explained where somebody has ordered it.
    """
    server, known = state.server, state.elsewhere
    if server is None:
        return ()
    theirs = (left for left in found if left.claim.token != token and left.action in _KINDS)
    left = next((left for left in theirs if left.server == (server.pid, server.start)), None)
    if left is not None:
        step = _step(left, now)
        told = known and (known.action, known.step, known.ended, known.failed, known.who)
        return () if told == (step.action, step.step, step.ended, step.failed, step.who) else (step,)
    if known is None or known.ended:
        return ()
    done = f"The {known.action} by {known.who} is over."
    return (ActionStep(at=now, action=_KINDS[known.action], step=done, ended=True, who=known.who, since=known.since),)


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
