"""What was left in the middle on a host, as seen from what is watched there: whose it is, and whether it is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bringup.core.state import State
from bringup.core.words import last_line
from bringup.hosts.control import Unfinished

_QUIET = 8
"""Seconds without a sign after which it is said what follows from that: whoever acts gives one every 5 s."""


def choose(
    found: Sequence[Unfinished],
    state: State,
    *,
    token: str,
    narrowed: tuple[int | None, int | None] = (None, None),
) -> Unfinished | None:
    """Return the one to speak of: what `token` began first, then what is of the watched server, then the newest.

    A watch that is `narrowed` to a port or a PID leaves what is of another one to others.
    """
    ours = next((left for left in found if left.claim.token == token), None)
    if ours is not None:
        return ours
    theirs = [left for left in found if may_be_meant(left, *narrowed)]
    watched = next((left for left in theirs if concerns(left, state)), None)
    return watched or (theirs[0] if theirs else None)


def concerns(left: Unfinished, state: State) -> bool:
    """Say whether it is of the server that is watched, or of the one that is looked for while none runs."""
    server = state.server
    if server is None:
        return True
    same = (server.pid, server.start) in (left.server, left.new)
    return same or (state.gone_at is not None and left.port in (None, server.port))


def in_the_way(found: Sequence[Unfinished], port: int | None) -> Unfinished | None:
    """Return what may bring up a server, now or later, on the port that one is to be launched on; None for no such.

    What is of another port stands against nothing; where one of the two ports is not known they may be the same.
    """
    return next((left for left in found if _brings_up(left) and (port is None or left.port in (None, port))), None)


def _brings_up(left: Unfinished) -> bool:
    if left.action not in ("restart", "launch") or is_over(left):
        return False
    return left.busy or left.kept or left.unseen or "launch" in left.can


def is_over(left: Unfinished) -> bool:
    """Say whether there is nothing to be done about it any more: the new server runs, or a stop reached its end."""
    if left.busy or left.unseen:
        return False
    return left.new_alive or (left.action == "stop" and not left.alive and left.new is None)


def headline(left: Unfinished) -> str:
    """Return what happened, in a few words."""
    if left.busy:
        return f"A {left.action} is under way"
    if is_over(left):
        return f"The {left.action} is done"
    if left.step == "undecided":
        return f"A {left.action} waits for your decision"
    return f"A {left.action} failed" if has_failed(left) else f"A {left.action} was cut off"


def under_way(left: Unfinished) -> str:
    """Return what somebody does now; where they have given no sign for a while, when it counts as cut off."""
    return f"{left.sentence} {left.takeover}".strip() if left.age > _QUIET else left.sentence


def has_failed(left: Unfinished) -> bool:
    """Say whether it ran to its end, and the new server did not live."""
    return left.failed or (left.new is not None and not left.new_alive)


def last_said(left: Unfinished) -> str:
    """Return the last words of a server that was launched again and ended, or else how it ended."""
    status = f" with exit status {left.status}" if left.status else ""
    return last_line(left.said) or f"It ended at once{status} and said nothing."


def ending(left: Unfinished) -> str:
    """Return a sentence for one that is over."""
    if left.new_alive and left.new is not None:
        return f"The {left.action} of {left.about} that was cut off is done: the new server runs as PID {left.new[0]}."
    return f"The {left.action} of {left.about} that was cut off is done: it has ended."


def parting(left: Unfinished) -> str:
    """Return a sentence for one that is forgotten."""
    return ending(left) if is_over(left) else f"The {left.action} is given up; what was kept of it is removed."


def condition(left: Unfinished) -> Unfinished:
    """Return it without its age: two of the same condition are equal."""
    return replace(left, age=0, began=0)


def may_be_meant(left: Unfinished, port: int | None, pid: int | None) -> bool:
    """Say whether it may be of a watch that is narrowed to a port or a PID; None for no such."""
    if pid is not None:
        return pid in (left.server[0], left.new[0] if left.new is not None else None)
    return port is None or left.port in (None, port)
