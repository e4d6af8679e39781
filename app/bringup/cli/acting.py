"""`bringup stop` and `bringup restart`: what the keys do, for scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bringup.cli.left_over import NOT_DONE, forget, go_on
from bringup.cli.naming import Host, Hosts
from bringup.cli.telling import confirmed, follow, is_terminal, say
from bringup.cli.which import ANY, Which
from bringup.core.errors import BringupError, UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.core.state import State
    from bringup.session.console import LeftToAnother, StopPlan
    from bringup.session.session import Session

Signal = Literal["TERM", "GENTLE", "INT", "KILL"]
Deed = Literal["stop", "restart"]
Change = Callable[["StopPlan"], "StopPlan"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done, and how."""

    deed: Deed
    yes: bool
    read_only: bool
    discard: bool = False
    signal: str = ""
    force: bool = False


def stop(
    *hosts: Hosts,
    yes: bool = False,
    read_only: bool = False,
    signal: Signal | None = None,
    drain: str | None = None,
    which: Which = ANY,
) -> int:
    """Stop the server, until none of its processes is left and its GPU memory and port are free.

    Shows what it will touch, on each host where there are several, and asks once. Exit codes: 0 done, 1 not done, 2
    wrong command line or configuration, 4 the host cannot be reached.

    Parameters
    ----------
    hosts
        A target of the configuration, or whatever `ssh HOST` takes; several are stopped at once. Nothing for this
        machine.
    yes
        Do it without asking.
    read_only
        Show what it would touch, and do nothing: exit code 1.
    signal
        TERM, INT or KILL to the launcher, instead of what suits it best; GENTLE is TERM, and kills nothing after it.
    drain
        How long it may take to end by itself before the rest is killed: 60s, 5m.
    """
    return _act(Order("stop", yes, read_only, signal=signal or ""), which.chosen(hosts), _change(drain))


def restart(
    host: Host = None,
    /,
    *,
    yes: bool = False,
    read_only: bool = False,
    discard: bool = False,
    drain: str | None = None,
    force: bool = False,
    which: Which = ANY,
) -> int:
    """Stop the server and launch it again with the same command, directory, environment and log.

    Shows what it will touch, and asks. A restart that was cut off, or failed, is gone on with: there is never a second
    one. It does not wait until the server is ready: `bringup wait` does. Exit codes: 0 done, 1 not
    done, 2 wrong command line or configuration, 4 the host cannot be reached.

    Parameters
    ----------
    host
        A target of the configuration, or whatever `ssh HOST` takes. Nothing for this machine.
    yes
        Do it without asking.
    read_only
        Show what it would touch, and do nothing: exit code 1.
    discard
        Forget a restart that was cut off or failed, and what is kept of it; touches no process, launches nothing.
    drain
        How long it may take to end by itself before the rest is killed: 60s, 5m.
    force
        Launch it although what had started it still runs and may start it again, too. Without, that is asked.
    """
    order = Order("restart", yes, read_only, discard, force=force)
    return _act(order, which.chosen((host,)), _change(drain, force=force))


def _change(drain: str | None, *, force: bool = False) -> Change:
    """Return what the options change in a plan; raises UsageError for a drain that is no duration."""
    from bringup.config.durations import FORM, read_duration

    try:
        seconds = None if drain is None else read_duration(drain)
    except ValueError as error:
        raise UsageError(f"--drain takes {FORM}, and {drain!r} was given.", "Without a unit it is seconds.") from error

    def change(plan: StopPlan) -> StopPlan:
        return replace(plan if seconds is None else plan.waiting(seconds), regardless=force)

    return change


def _act(order: Order, chosen: Chosen, change: Change) -> int:
    from bringup.cli.stopping import refuse_inside, stop_each
    from bringup.cli.targets import only_one

    refuse_inside(chosen, order.deed)
    if order.deed == "restart":
        only_one(chosen, order.deed)
    if chosen.target.read_only:
        what = f"The configuration says that {chosen.target.name} is read-only: nothing is stopped or restarted there."
        raise UsageError(what, "Take `read-only` away from the target to allow it.")
    if not order.yes and not order.read_only and not is_terminal():
        raise UsageError(f"There is no terminal to confirm a {order.deed} at.", "Give --yes to do it without asking.")
    chosen = _allowed(chosen, read_only=order.read_only)
    return asyncio.run((stop_each if chosen.nodes else _acted)(order, chosen, change))


def _allowed(chosen: Chosen, *, read_only: bool) -> Chosen:
    nodes = tuple(_allowed(node, read_only=read_only) for node in chosen.nodes)
    return replace(chosen, target=replace(chosen.target, read_only=read_only), nodes=nodes)


async def _acted(order: Order, chosen: Chosen, change: Change) -> int:
    from bringup.cli.headless import connected

    async with connected(chosen) as (session, headless):
        look = await headless.once()
        if order.yes:
            refuse_guess(chosen, look.state)
        if order.deed == "restart" and await _was_left(order, session, chosen.target.name):
            return 0
        plan = change(await _planned(session, order.deed))
        show(plan, restart=order.deed == "restart")
        if order.read_only:
            raise BringupError(NOT_DONE, "Leave --read-only out to have it done.")
        if not order.yes and not confirmed(f"{order.deed.capitalize()} this server on {plan.node}?"):
            raise BringupError(NOT_DONE)
        await _carry_out(order, session, plan)
    return 0


async def _was_left(order: Order, session: Session, name: str) -> bool:
    """Say whether what had been left in the middle was all there was to do."""
    if order.discard:
        await forget(session, name, yes=order.yes, read_only=order.read_only)
        return True
    return await go_on(session, name, yes=order.yes, read_only=order.read_only, force=order.force)


async def _planned(session: Session, deed: Deed) -> StopPlan:
    plan = await session.plan()
    if not plan.members:
        raise BringupError("All processes of this server have ended: there is nothing to stop.")
    if deed == "restart" and plan.restartable:
        raise BringupError(plan.restartable)
    return plan


async def _carry_out(order: Order, session: Session, plan: StopPlan) -> None:
    from bringup.session.console import LeftToAnother

    try:
        work = session.stop(plan, order.signal) if order.deed == "stop" else session.restart(plan)
        await follow(work, session)
    except LeftToAnother as undecided:
        await _decide(undecided, session, yes=order.yes)


async def _decide(undecided: LeftToAnother, session: Session, *, yes: bool) -> None:
    """What had started the server may start it again: launch it all the same only where the operator says so."""
    left = None if yes else await session.unfinished()
    if left is None or "launch" not in left.can:
        hint = "`bringup restart` launches it all the same now, `bringup restart --discard` gives it up."
        raise BringupError(undecided.what, hint) from undecided
    say(undecided.what)
    if not confirmed("Launch it all the same?"):
        raise undecided
    await follow(session.resume(left), session)


def refuse_guess(chosen: Chosen, state: State) -> None:
    """Raise UsageError: without a question, which of several servers is meant must have been said."""
    target = chosen.target
    if not state.others or target.pid is not None or target.port is not None or state.server is None:
        return
    servers = (state.server, *state.others)
    named = ", ".join(f"PID {server.pid} on port {server.port or '?'}" for server in servers[:5])
    what = f"{len(servers)} servers run on {target.name}: {named}."
    raise UsageError(what, "Say which one is meant with --port or --pid.")


def show(plan: StopPlan, *, restart: bool) -> None:
    """Show on standard error what a stop or a restart will touch."""
    from rich.console import Console

    from bringup.cli.output import aside
    from bringup.report.plan import plan_page

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    with aside():
        console.print(plan_page(plan, min(console.width, 120), restart=restart))
