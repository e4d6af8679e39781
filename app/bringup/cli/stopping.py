"""`bringup stop` of several hosts: what it touches on each is shown, one question asked, all stopped at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bringup.cli.acting import Change, Order, planned_rest, refuse_guess, refuse_left, show, what_lives_on
from bringup.cli.protecting import refuse_found
from bringup.cli.telling import NOT_DONE, Doing, confirmed, follow, say
from bringup.core.errors import BringupError, ConnectionLost, UsageError
from bringup.core.words import count, names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bringup.cli.targets import Chosen
    from bringup.session.console import StopPlan
    from bringup.session.session import Session

Planned = tuple[str, "Session", "StopPlan"]
_BY_THEIR_OWN = {
    "docker": "`bringup stop` with the host alone finds the server there, and has docker stop its container.",
    "kube": "Have its controller scaled down, or delete the pod: a new one takes the place of one that only ends.",
    "slurm": "`scancel` ends the job.",
}


def refuse_inside(chosen: Chosen, deed: str) -> None:
    """Raise UsageError where a server would be stopped from within what ends together with it, and us."""
    ways = (each.way for each in (chosen, *chosen.nodes) if each.way is not None)
    way = next((way for way in ways if way.kind in _BY_THEIR_OWN), None)
    if way is not None:
        kind = "job" if way.kind == "slurm" else "container"
        what = f"A {deed} does not go through --{way.kind}: the {kind} would end with the server, and we with it."
        raise UsageError(what, _BY_THEIR_OWN[way.kind])


async def stop_each(order: Order, chosen: Chosen, change: Change) -> int:
    """Stop the servers of all hosts; raises BringupError where one of them, or a part of one, could not be."""
    from bringup.cli.headless import all_connected

    async with all_connected(chosen) as (sessions, headless):
        await headless.once()
        for node, (_, session) in zip(chosen.nodes, sessions, strict=True):
            refuse_found(node, session.state.server)
            if order.yes:
                refuse_guess(node, session.state)
        await refuse_any_left(sessions)
        plans, spared, unasked = await plan_each(sessions, change)
        if not plans and unasked:
            raise not_done(unasked, spared, [])
        if not plans:
            raise BringupError(f"There is no server to stop on {names([name for name, _ in sessions])}.")
        for _, _, plan in plans:
            show(plan, restart=False, way=order.signal)
        where = names([name for name, _, _ in plans])
        if order.read_only:
            raise BringupError(NOT_DONE, "Leave --read-only out to have it done.")
        if not order.yes and not confirmed(f"Stop {count(len(plans), 'server')}, on {where}?"):
            raise BringupError(NOT_DONE)
        await _stop(plans, order.signal, spared, unasked)
    return 0


async def refuse_any_left(sessions: Sequence[tuple[str, Session]]) -> None:
    """Ask all hosts at once; raises BringupError of the first that has only what is left of a server being stopped."""
    asked = await asyncio.gather(*(refuse_left(session) for _, session in sessions), return_exceptions=True)
    for error in asked:
        if error is not None:
            raise error


async def plan_each(
    sessions: Sequence[tuple[str, Session]], change: Change
) -> tuple[list[Planned], dict[str, str], dict[str, BringupError]]:
    """Look what a stop would touch on each host: its server, or what still runs of one whose stop was cut off.

    Where there is neither, that is told. Returned, too, are the hosts on which something lives on all the same, with
    what that is, and those without a server that did not tell it: they keep nobody from stopping the others.
    """
    from bringup.report.harmless import harmless

    plans: list[Planned] = []
    spared: dict[str, str] = {}
    unasked: dict[str, BringupError] = {}
    for name, session in sessions:
        plan = await _plan(session)
        try:
            plan = plan or await planned_rest(session, name)
            rest = "" if plan is not None else await what_lives_on(session, name)
        except BringupError as error:
            unasked[name] = error
            say(harmless(f"{name}: there is no server to stop. What may live on of one is not known: {error.what}"))
            continue
        if plan is not None:
            plans.append((name, session, change(plan)))
            continue
        if rest:
            spared[name] = rest
        say(harmless(f"{name}: there is no server to stop. {rest}".strip()))
    return plans, spared, unasked


async def _plan(session: Session) -> StopPlan | None:
    """Return what ends the server; None where there is none, or all its processes have ended."""
    state = session.state
    plan = await session.plan() if state.server is not None and state.gone_at is None else None
    return plan if plan is not None and plan.members else None


async def _stop(
    plans: Sequence[Planned], signal: str, spared: Mapping[str, str], unasked: Mapping[str, BringupError]
) -> None:
    """Stop all at once: the ranks of one node wait for those of the others."""
    work = (
        follow(session.stop(plan, signal), session, Doing("stop", name, plan.server.port), among=True)
        for name, session, plan in plans
    )
    ended = await asyncio.gather(*work, return_exceptions=True)
    failed = dict(unasked)
    for (name, _, _), error in zip(plans, ended, strict=True):
        if isinstance(error, BringupError):
            failed[name] = error
        elif error is not None:
            raise error
    if failed or spared:
        raise not_done(failed, spared, [name for name, _, _ in plans if name not in failed])


def not_done(failed: Mapping[str, BringupError], spared: Mapping[str, str], done: Sequence[str]) -> BringupError:
    """Return what went wrong, on which host; a lost connection where nothing else did."""
    told = [f"{name}: {error.what}" for name, error in failed.items()]
    told += [f"{name}: something of an earlier server was left alone." for name in spared]
    # Two hosts may give the same hint.
    hints = list(dict.fromkeys([*(error.hint for error in failed.values()), *spared.values()]))
    hints += [f"Stopped: {names(done)}."] if done else []
    lost = not spared and all(isinstance(error, ConnectionLost) for error in failed.values())
    kind = ConnectionLost if lost else BringupError
    return kind(" ".join(told), " ".join(hint for hint in hints if hint))
