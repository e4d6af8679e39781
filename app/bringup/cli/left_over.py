"""What a restart that was cut off, or failed, left on a host: told, gone on with, or forgotten, by commands."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bringup.cli.telling import NOT_DONE, Doing, confirmed, follow, say
from bringup.core.errors import BringupError, UsageError

if TYPE_CHECKING:
    from bringup.session.console import Unfinished
    from bringup.session.session import Session

Found = tuple[tuple[str, "Unfinished"], ...]
"""Hosts, as the operator named them, with what was left in the middle there."""
_ENDS = 15.0
"""Seconds that a server which was asked to end is given to do so: with its launch kept, it is launched, not stopped.
The launch of another console, or of one whose connection was cut, is given as long."""
_EVERY = 0.5
_RECENT = 600
"""Seconds in which a restart that is asked for once more is the one that was cut off, and has reached its end."""
_ASKED = ("stopping", "killing", "waiting", "returning")


async def left_on(sessions: Iterable[tuple[str, Session]]) -> Found:
    """Return what was left in the middle on hosts, asked all at once; one that cannot tell has nothing to tell.

    Nothing can be done about it where the server is read-only.
    """
    asked = tuple(sessions)
    told = await asyncio.gather(*(_told(session) for _, session in asked))
    return tuple((name, left) for (name, _), left in zip(asked, told, strict=True) if left is not None)


async def _told(session: Session) -> Unfinished | None:
    with suppress(BringupError):
        left = await session.unfinished()
        return replace(left, untouched=True) if left is not None and session.read_only else left
    return None


async def forget(session: Session, name: str, *, yes: bool, read_only: bool) -> None:
    """Discard what was left in the middle; touches no process. Raises BringupError where there is nothing."""
    from bringup.cli.output import emit
    from bringup.report.harmless import harmless
    from bringup.session.left_over import is_over, parting

    left = await session.unfinished()
    if left is None:
        raise BringupError(f"No stop or restart was left in the middle on {name}.", "There is nothing to discard.")
    say(harmless(left.sentence))
    _refuse(read_only=read_only)
    question = "Have it told no more?" if is_over(left) else "Discard what was kept of it?"
    if not yes and not confirmed(f"{question} No process is touched."):
        raise BringupError(NOT_DONE)
    await session.discard(left)
    emit(f"{harmless(parting(left))}\n")


async def go_on(session: Session, name: str, *, yes: bool, read_only: bool, force: bool = False) -> bool:
    """Go on with a restart that was left in the middle, so that there is never a second one.

    Returns whether that was all there was to do; raises BringupError where it cannot be gone on with.
    """
    from bringup.report.commands import command_line, ends_first
    from bringup.report.harmless import harmless
    from bringup.session.left_over import concerns, is_over

    left = await _come_to_rest(session)
    if left is None or left.action == "stop" or await _is_past(session, left, read_only=read_only):
        return False
    discards = f"`{command_line('restart', name, '--discard', port=left.port)}`"
    if left.busy and concerns(left, session.state):
        raise BringupError(left.sentence, f"{NOT_DONE} {left.takeover}".strip())
    say(harmless(left.sentence))
    if not concerns(left, session.state):
        raise _another(left, session, name, discards)
    if is_over(left):
        await _end(session, left, read_only=read_only)
        return True
    if left.server in left.alive:
        # It runs as before, or would not end: the restart is begun anew, in the place of the one that was cut off.
        return False
    if "launch" not in left.can:
        hint = f"{ends_first(left, name)} {discards} forgets what was left in the middle."
        raise BringupError(NOT_DONE, hint.strip())
    _refuse(read_only=read_only)
    if yes and not force and left.step == "undecided":
        raise BringupError(NOT_DONE, "With --force it is launched although it may be started again.")
    does = "Wait for it" if left.at_work else f"Launch it{left.again}"
    if not yes and not confirmed(f"{does} on {session.state.node or name}?"):
        raise BringupError(NOT_DONE, f"{discards} forgets it.")
    await see_through(session.resume(left), session, Doing("restart", name, left.port), yes=yes, force=force)
    return True


async def see_through(
    work: Coroutine[None, None, None], session: Session, doing: Doing, *, yes: bool, force: bool
) -> None:
    """Follow a restart to its end.

    Where what had started the server may start it again, it is launched only where the operator says so, by an answer
    or beforehand with `force`; raises BringupError where it is not.
    """
    from bringup.hosts.control import LeftToAnother

    try:
        await follow(work, session, doing)
    except LeftToAnother as undecided:
        left = await session.unfinished() if force or not yes else None
        if left is None or "launch" not in left.can or left.respawns:
            raise BringupError(undecided.what, _what_then(doing, yes=yes, force=force)) from undecided
        if not force:
            say(undecided.what)
            if not confirmed("Launch it all the same?", "Nothing was launched."):
                raise
        await follow(session.resume(left), session, doing)


def _what_then(doing: Doing, *, yes: bool, force: bool) -> str:
    from bringup.report.commands import command_line

    again = command_line("restart", doing.name, *(("--yes", "--force") if yes else ()), port=doing.port)
    discards = command_line("restart", doing.name, "--discard", port=doing.port)
    launches = "goes on with it once that is settled" if force else "launches it all the same now"
    return f"`{again}` {launches}, `{discards}` gives it up."


def _another(left: Unfinished, session: Session, name: str, discards: str) -> UsageError:
    """Two servers may be meant: the one that was left in the middle, and the one that runs. Neither is guessed."""
    from bringup.report.commands import command_line

    server = session.state.server
    if server is None:
        return UsageError(NOT_DONE, f"{discards} forgets it.")
    where = f" on port {server.port}" if server.port is not None else ""
    what = f"That is not the server that runs now (PID {server.pid}{where}): which of them is meant? {NOT_DONE}"
    hint = f"`{command_line('restart', name, '--pid', str(server.pid))}` restarts the one that runs"
    if not left.busy:
        goes_on = command_line("restart", name, "--pid", str(left.server[0]))
        hint += f", `{goes_on}` goes on with the other, {discards} forgets that"
    return UsageError(what, f"{hint}.")


async def _is_past(session: Session, left: Unfinished, *, read_only: bool) -> bool:
    """Say whether it has nothing to do with the restart that is asked for now; what is over of it is forgotten."""
    from bringup.session.left_over import concerns, is_over

    if left.action == "launch" and not concerns(left, session.state):
        return True
    if not is_over(left) or (left.action == "restart" and left.age < _RECENT):
        return False
    if not read_only:
        await session.discard(left)
    return True


async def _come_to_rest(session: Session) -> Unfinished | None:
    """Return what was left, once what was asked to end has ended and a launch under way is over, or a while later."""
    left = await session.unfinished()
    for _ in range(round(_ENDS / _EVERY)):
        launches = left is not None and left.busy and left.step == "launching"
        ends = left is not None and not left.busy and bool(left.alive) and left.step in _ASKED
        if not (launches or ends):
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
    _refuse(read_only=read_only)


def _refuse(*, read_only: bool) -> None:
    if read_only:
        raise BringupError(NOT_DONE, "Leave --read-only out to have it done.")
