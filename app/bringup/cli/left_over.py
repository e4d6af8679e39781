"""What a restart that was cut off, or failed, left on a host: told, gone on with, or forgotten, by commands."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bringup.cli.telling import confirmed, follow, say
from bringup.core.errors import BringupError

if TYPE_CHECKING:
    from bringup.session.console import Unfinished
    from bringup.session.session import Session

Found = tuple[tuple[str, "Unfinished"], ...]
"""Hosts, as the operator named them, with what was left in the middle there."""
NOT_DONE = "Nothing was done."
_ENDS = 15.0
"""Seconds that a server which was asked to end is given to do so: with its launch kept, it is launched, not stopped."""
_EVERY = 0.5
_ASKED = ("stopping", "killing", "waiting")


async def left_on(sessions: Iterable[tuple[str, Session]]) -> Found:
    """Return what was left in the middle on hosts; one that cannot tell has nothing to tell."""
    found = []
    for name, session in sessions:
        try:
            left = await session.unfinished()
        except BringupError:
            continue
        if left is not None:
            found.append((name, left))
    return tuple(found)


async def forget(session: Session, name: str, *, yes: bool, read_only: bool) -> None:
    """Discard what was left in the middle; touches no process. Raises BringupError where there is nothing."""
    from bringup.cli.output import emit
    from bringup.report.harmless import harmless

    left = await session.unfinished()
    if left is None:
        raise BringupError(f"No stop or restart was left in the middle on {name}.", "There is nothing to discard.")
    say(harmless(left.sentence))
    _refuse(read_only=read_only)
    if not yes and not confirmed("Discard what was kept of it? No process is touched."):
        raise BringupError(NOT_DONE)
    await session.discard(left)
    emit(f"The {left.action} is given up; what was kept of it is removed.\n")


async def go_on(session: Session, name: str, *, yes: bool, read_only: bool, force: bool = False) -> bool:
    """Go on with a restart that was left in the middle, so that there is never a second one.

    Returns whether that was all there was to do; raises BringupError where it cannot be gone on with.
    """
    from bringup.report.harmless import harmless
    from bringup.session.left_over import concerns, is_over

    left = await _come_to_rest(session)
    if left is None or left.action == "stop":
        return False
    say(harmless(left.sentence))
    if not concerns(left, session.state):
        say(f"That is another server. `bringup restart {name} --discard` forgets it.")
        return False
    if left.busy:
        raise BringupError(left.sentence, NOT_DONE)
    if is_over(left):
        await _end(session, left, read_only=read_only)
        return True
    if left.server in left.alive:
        # It runs as before, or would not end: the restart is begun anew, in the place of the one that was cut off.
        return False
    if "launch" not in left.can:
        raise BringupError(NOT_DONE, f"`bringup restart {name} --discard` forgets what was left in the middle.")
    _refuse(read_only=read_only)
    if yes and not force and left.step == "undecided":
        raise BringupError(NOT_DONE, "With --force it is launched although it may be started again.")
    if not yes and not confirmed(f"Launch it again on {session.state.node or name}?"):
        raise BringupError(NOT_DONE, f"`bringup restart {name} --discard` forgets it.")
    await _launch(session, left, force=force)
    return True


async def _launch(session: Session, left: Unfinished, *, force: bool) -> None:
    """Launch what was kept; `force` answers where what had started the server may start it again, too."""
    from bringup.hosts.control import LeftToAnother

    try:
        await follow(session.resume(left), session)
    except LeftToAnother:
        again = await session.unfinished() if force and not left.respawns else None
        if again is None:
            raise
        await follow(session.resume(again), session)


async def _come_to_rest(session: Session) -> Unfinished | None:
    """Return what was left, once a server that had been asked to end has ended, or has not in a while."""
    left = await session.unfinished()
    for _ in range(round(_ENDS / _EVERY)):
        if left is None or left.busy or not left.alive or left.step not in _ASKED:
            break
        await asyncio.sleep(_EVERY)
        left = await session.unfinished()
    return left


async def _end(session: Session, left: Unfinished, *, read_only: bool) -> None:
    from bringup.cli.output import emit
    from bringup.report.harmless import harmless
    from bringup.session.left_over import ending

    if not read_only:
        await session.discard(left)
    emit(f"{harmless(ending(left))}\n")


def _refuse(*, read_only: bool) -> None:
    if read_only:
        raise BringupError(NOT_DONE, "Leave --read-only out to have it done.")
