"""`bringup stop` and `bringup restart`: what the keys do, for scripts."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Literal

from bringup.cli.naming import Host
from bringup.core.errors import BringupError, UsageError

if TYPE_CHECKING:
    from bringup.cli.targets import Chosen
    from bringup.core.state import State
    from bringup.session.console import StopPlan
    from bringup.session.session import Session

Signal = Literal["TERM", "INT", "KILL"]
Deed = Literal["stop", "restart"]
_EVERY = 0.1


def stop(
    host: Host = None,
    /,
    *,
    yes: bool = False,
    signal: Signal | None = None,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
) -> int:
    """Stop the server, until none of its processes is left and its GPU memory and port are free.

    Shows what it will touch, and asks. Exit codes: 0 done, 1 not done, 2 wrong command line or configuration, 4 the
    host cannot be reached.

    Parameters
    ----------
    host
        A target of the configuration, or whatever `ssh HOST` takes. Nothing for this machine.
    yes
        Do it without asking.
    signal
        TERM, INT or KILL to the launcher, instead of what suits it best.
    log
        The server that writes this log.
    port
        The server on this port.
    pid
        The server with this process ID.
    """
    from bringup.cli.targets import choose, configuration

    chosen = choose(host, log=log, port=port, pid=pid, config=configuration())
    return _act("stop", chosen, yes=yes, signal=signal or "")


def restart(
    host: Host = None,
    /,
    *,
    yes: bool = False,
    log: str | None = None,
    port: int | None = None,
    pid: int | None = None,
) -> int:
    """Stop the server and launch it again with the same command, directory, environment and log.

    Shows what it will touch, and asks. It does not wait until the server is ready: `bringup wait` does. Exit codes:
    0 done, 1 not done, 2 wrong command line or configuration, 4 the host cannot be reached.

    Parameters
    ----------
    host
        A target of the configuration, or whatever `ssh HOST` takes. Nothing for this machine.
    yes
        Do it without asking.
    log
        The server that writes this log.
    port
        The server on this port.
    pid
        The server with this process ID.
    """
    from bringup.cli.targets import choose, configuration

    return _act("restart", choose(host, log=log, port=port, pid=pid, config=configuration()), yes=yes, signal="")


def _act(deed: Deed, chosen: Chosen, *, yes: bool, signal: str) -> int:
    from bringup.cli.targets import only_one

    only_one(chosen, deed)
    if chosen.target.read_only:
        what = f"The configuration says that {chosen.target.name} is read-only: nothing is stopped or restarted there."
        raise UsageError(what, "Take `read-only` away from the target to allow it.")
    if not yes and not _is_terminal():
        raise UsageError(f"There is no terminal to confirm a {deed} at.", "Give --yes to do it without asking.")
    return asyncio.run(_acted(deed, chosen, yes=yes, signal=signal))


async def _acted(deed: Deed, chosen: Chosen, *, yes: bool, signal: str) -> int:
    from bringup.cli.headless import connected

    async with connected(chosen) as (session, headless):
        look = await headless.once()
        if yes:
            _refuse_guess(chosen, look.state)
        plan = await session.plan()
        if not plan.members:
            raise BringupError("All processes of this server have ended: there is nothing to stop.")
        if deed == "restart" and plan.restartable:
            raise BringupError(plan.restartable)
        _show(plan, restart=deed == "restart")
        if not yes and not _confirmed(deed, plan):
            raise BringupError("Nothing was done.")
        await _follow(deed, session, plan, signal)
    return 0


def _refuse_guess(chosen: Chosen, state: State) -> None:
    """Without a question, which of several servers is meant must have been said."""
    target = chosen.target
    if not state.others or target.pid is not None or target.port is not None or state.server is None:
        return
    servers = (state.server, *state.others)
    named = ", ".join(f"PID {server.pid} on port {server.port or '?'}" for server in servers[:5])
    what = f"{len(servers)} servers run on {target.name}: {named}."
    raise UsageError(what, "Say which one is meant with --port or --pid.")


async def _follow(deed: Deed, session: Session, plan: StopPlan, signal: str) -> None:
    """Do it, and tell each step on standard error and the end on standard output."""
    from bringup.cli.output import emit
    from bringup.report.harmless import harmless

    doing = asyncio.create_task(session.stop(plan, signal) if deed == "stop" else session.restart(plan), name=deed)
    told = ""
    while not doing.done():
        await asyncio.wait((doing,), timeout=_EVERY)
        action = session.state.action
        if action is not None and not action.ended and action.step != told:
            told = action.step
            _say(harmless(told))
    await doing
    action = session.state.action
    emit(f"{harmless(action.step) if action is not None else 'Done.'}\n")


def _show(plan: StopPlan, *, restart: bool) -> None:
    from rich.console import Console

    from bringup.report.plan import plan_page

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    console.print(plan_page(plan, min(console.width, 120), restart=restart))


def _confirmed(deed: Deed, plan: StopPlan) -> bool:
    from bringup.report.harmless import harmless

    sys.stderr.write(f"{deed.capitalize()} this server on {harmless(plan.node)}? (yes/no) ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() == "yes"


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is the edge
