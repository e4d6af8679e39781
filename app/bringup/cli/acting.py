"""`bringup stop` and `bringup restart`: what the keys do, for scripts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bringup.cli.asking import is_terminal
from bringup.cli.left_over import forget, go_on, see_through
from bringup.cli.naming import Host, Hosts
from bringup.cli.protecting import refuse_found, shielded
from bringup.cli.telling import NOT_DONE, Doing, confirmed, follow, say
from bringup.cli.which import ANY, Which
from bringup.core.errors import BringupError, UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.core.state import State
    from bringup.session.console import StopPlan
    from bringup.session.session import Session

Signal = Literal["TERM", "GENTLE", "INT", "KILL"]
Deed = Literal["stop", "restart"]
_UNDRAINED = {
    "GENTLE": "it kills nothing; `patient` in the configuration is what it waits.",
    "KILL": "it kills at once.",
}
"""Ways to stop that no drain is a part of, and why."""
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
        Do it without asking; not to a process that is not recognised as a server.
    read_only
        Show what it would touch, and do nothing: exit code 1.
    signal
        TERM, INT or KILL to the launcher, instead of what suits it best; GENTLE is TERM, and kills nothing after it.
    drain
        How long it may take to end by itself before the rest is killed: 60s, 5m; not with GENTLE or KILL.
    """
    return _act(Order("stop", yes, read_only, signal=signal or ""), which.chosen(hosts), _change(drain, signal=signal))


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


def _change(drain: str | None, *, force: bool = False, signal: Signal | None = None) -> Change:
    """Return what the options change in a plan; raises UsageError for a drain that is no duration, or is not used."""
    from bringup.config.durations import FORM, read_duration

    if drain is not None and signal in _UNDRAINED:
        what = f"--drain and --signal {signal} contradict each other: {_UNDRAINED[signal]}"
        raise UsageError(what, "Give one of them.")
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
    chosen = shielded(chosen)
    if not order.yes and not order.read_only and not is_terminal():
        does = "forget what was left in the middle" if order.discard else f"{order.deed} the server"
        what = f"There is no terminal at which {'this' if order.discard else f'a {order.deed}'} could be confirmed."
        raise UsageError(what, f"Give --yes to {does} without asking.")
    chosen = _allowed(chosen, read_only=order.read_only)
    return asyncio.run((stop_each if chosen.nodes else _acted)(order, chosen, change))


def _allowed(chosen: Chosen, *, read_only: bool) -> Chosen:
    nodes = tuple(_allowed(node, read_only=read_only) for node in chosen.nodes)
    return replace(chosen, target=replace(chosen.target, read_only=read_only), nodes=nodes)


async def _acted(order: Order, chosen: Chosen, change: Change) -> int:
    from bringup.cli.headless import connected

    async with connected(chosen) as (session, headless):
        look = await headless.once()
        refuse_found(chosen, look.state.server)
        if order.yes:
            refuse_guess(chosen, look.state)
        await refuse_left(session)
        if order.deed == "restart" and await _was_left(order, session, chosen.target.name):
            return 0
        plan = change(await _planned(session, order.deed, chosen.target.name))
        show(plan, restart=order.deed == "restart", way=order.signal)
        if order.read_only:
            raise BringupError(NOT_DONE, "Leave --read-only out to have it done.")
        if not order.yes and not confirmed(f"{order.deed.capitalize()} this server on {plan.node}?"):
            raise BringupError(NOT_DONE)
        await _carry_out(order, session, plan, Doing(order.deed, chosen.target.name, plan.server.port))
    return 0


async def _was_left(order: Order, session: Session, name: str) -> bool:
    """Say whether what had been left in the middle was all there was to do."""
    if order.discard:
        await forget(session, name, yes=order.yes, read_only=order.read_only)
        return True
    return await go_on(session, name, yes=order.yes, read_only=order.read_only, force=order.force)


async def _planned(session: Session, deed: Deed, name: str) -> StopPlan:
    if session.state.server is None:
        rest = await planned_rest(session) if deed == "stop" else None
        if rest is not None:
            return rest
        lives = await what_lives_on(session, name) if deed == "stop" else ""
        raise BringupError(f"There is no server to {deed}.", lives or session.state.seeks)
    plan = await session.plan()
    if not plan.members:
        raise BringupError(*_ended(session, deed, name))
    if deed == "restart" and plan.restartable:
        raise BringupError(plan.restartable)
    return plan


def _ended(session: Session, deed: Deed, name: str) -> tuple[str, str]:
    """Return that nothing is left to act on, or what lives on without its launcher and where that is ended."""
    from bringup.report.commands import command_line
    from bringup.session.still_running import outlived

    lives = outlived(session.state)
    if not lives:
        return f"All processes of this server have ended: there is nothing to {deed}.", ""
    return lives, f"In `{command_line('watch', name)}`, o shows what lives on, and can end it."


async def planned_rest(session: Session, among: str = "") -> StopPlan | None:
    """Tell what still runs of a server whose stop was cut off, and return what ends it; None where nothing does.

    What is kept of a restart is not given up for that. `among` other hosts that name stands before what is told.
    """
    from bringup.report.harmless import harmless

    left = await session.unfinished()
    if left is None or left.busy or left.kept or not left.alive:
        return None
    say(harmless(f"{among}: {left.sentence}" if among else left.sentence))
    plan = await session.plan(left)
    return plan if plan.members else None


async def what_lives_on(session: Session, name: str) -> str:
    """Return what lives on of an earlier server and how that is ended, in sentences; "" where nothing does."""
    from bringup.report.commands import command_line, ends_first

    left = await session.unfinished()
    if left is not None and left.alive:
        return f"{left.sentence} {left.takeover or ends_first(left, name)}".strip()
    # What is not ours, or holds nothing, is no reason to say that a host was not cleared.
    lives_on = any(not each.why_not and not each.is_leftover for each in await session.orphans())
    where = f"In `{command_line('watch', name)}`, o shows what lives on of an earlier one, and can end it."
    return f"{session.state.seeks} {where}".strip() if lives_on else ""


async def _carry_out(order: Order, session: Session, plan: StopPlan, doing: Doing) -> None:
    if order.deed == "stop":
        await follow(session.stop(plan, order.signal), session, doing)
    else:
        await see_through(session.restart(plan), session, doing, yes=order.yes, force=order.force)


async def refuse_left(session: Session) -> None:
    """Raise BringupError where what looks like a server is what is left of one that somebody is stopping."""
    server = session.state.server
    if server is None:
        return
    _, claims = await session.standing()
    rest = (left for left in claims if left.busy and (server.pid, server.start) in left.alive)
    left = next((left for left in rest if left.server != (server.pid, server.start)), None)
    if left is not None:
        raise BringupError(left.sentence, f"PID {server.pid} is what is left of it. {NOT_DONE}")


def refuse_guess(chosen: Chosen, state: State) -> None:
    """Raise UsageError: without a question, it must be certain that it is a server, and which of several."""
    target = chosen.target
    if state.server is not None and not state.server.engine:
        what = f"PID {state.server.pid} on {target.name} is not recognised as a server."
        raise UsageError(what, f"{NOT_DONE} Without --yes it is shown what would end, and asked.")
    if not state.others or target.pid is not None or target.port is not None or state.server is None:
        return
    servers = (state.server, *state.others)
    named = ", ".join(f"PID {server.pid} on port {server.port or '?'}" for server in servers[:5])
    what = f"{len(servers)} servers run on {target.name}: {named}."
    raise UsageError(what, "Say which one is meant with --port or --pid.")


def show(plan: StopPlan, *, restart: bool, way: str = "") -> None:
    """Show on standard error what a stop, in one of its plan's ways, or a restart will touch."""
    from bringup.cli.output import tell_page
    from bringup.report.plan import plan_page

    cut = sys.stderr is not None and sys.stderr.isatty()
    tell_page(lambda width: plan_page(plan, width, restart=restart, way=way, cut=cut))
