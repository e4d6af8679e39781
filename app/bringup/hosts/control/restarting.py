"""A restart: stop the server, wait until its host is free, launch it again by whatever launched it the first time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, UsageError
from bringup.core.events import Launcher, Server
from bringup.hosts.base import Host
from bringup.hosts.control import journal
from bringup.hosts.control.configured import LaunchCommand, prepare
from bringup.hosts.control.handed import ask_after, ended_already
from bringup.hosts.control.journal import Claim
from bringup.hosts.control.launching import Started
from bringup.hosts.control.own_command import is_own
from bringup.hosts.control.own_launch import OwnLaunch, own_launch, remember, start_by_own
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.ports import why_taken
from bringup.hosts.control.processes import Signal, list_processes
from bringup.hosts.control.relaunch import WATCH, Launchable, capture, edit, launch_kept, relaunch
from bringup.hosts.control.respawn import keeps_down, may_return, starters
from bringup.hosts.control.steps import Report, Step
from bringup.hosts.control.stopped import Stopped
from bringup.hosts.control.stopping import stop
from bringup.hosts.control.surveying import Survey, nobody
from bringup.hosts.control.unfinished import Unfinished

SUPERVISOR_WAIT = 30.0
"""Seconds that a supervisor is given to start the server again; it is never raced with a launch of ours."""
PERHAPS_WAIT = 10.0
"""The same, where nobody can tell whether what stands above the server starts it again."""


class LeftToAnother(BringupError):
    """The server was stopped and nothing was launched: what had started it still runs and may start it again.

    What was kept stays on the host: `resume` launches it all the same, `discard` gives it up.
    """

    def __init__(self, what: str, stopped: Stopped) -> None:
        super().__init__(
            f"{what} Nothing was launched from here, so that there are never two servers: no server runs.", _KEPT
        )
        self.stopped = stopped


_KEPT = "What it was launched with is kept on the host: launch it all the same once that is settled, or discard it."


async def restart(
    host: Host,
    plan: Survey,
    claimed: Claim,
    *,
    report: Report,
    signal: Signal | None = None,
    argv: Sequence[str] | None = None,
    command: LaunchCommand | None = None,
    pace: Pace | None = None,
    is_engine: Callable[[str], bool] = nobody,
    watch: int = WATCH,
    regardless: bool = False,
) -> Started:
    """Restart a server; `argv` launches another command line, `command` the configured one; without a `signal` the
    server is stopped the way of its launcher. With `regardless` it is launched although what had started it still runs
    and may do so, too.

    Raises BringupError, and LeftToAnother. Before anything was done, as where somebody else holds the port of an edited
    or configured command, the claim is given back; after that, what was kept stays on the host and `all_unfinished`
    tells of it, so that the launch can be tried again or be given up.
    """
    way: Signal = signal or ("OWN" if plan.server.launcher.stop else "TERM")
    kept = await _kept_or_released(host, plan, claimed, argv, command, report)
    pace = _patient(pace or Pace(), plan.server, way, regardless=regardless)
    try:
        stopped = await stop(host, plan, signal=way, report=report, pace=pace, is_engine=is_engine, claimed=claimed)
    except ChannelRefused as refused:
        # Nothing was signalled. What a launcher's own command has begun may go on, though it failed.
        if refused.reason == "denied" and (way != "OWN" or await _all_run(host, plan)):
            await journal.release(host, claimed)
        raise
    started = await _started_again(host, plan.server, claimed, stopped, regardless=regardless)
    if started is None:
        started = await _launch(host, plan.server, claimed, kept, report, pace, watch)
        started = await _settled(host, claimed, started, pace, kept.stdout if kept is not None else "")
    else:
        await journal.settle(host, claimed)
    return replace(started, unchecked=stopped.unchecked, noted=(*stopped.notes, *started.noted))


async def _all_run(host: Host, plan: Survey) -> bool:
    rows = await list_processes(host, [each.pid for each in plan.members])
    running = {(row.pid, row.start) for row in rows.values() if not row.ended}
    return bool(plan.members) and all((each.pid, each.start) in running for each in plan.members)


async def resume(
    host: Host,
    left: Unfinished,
    *,
    report: Report,
    argv: Sequence[str] | None = None,
    pace: Pace | None = None,
    watch: int = WATCH,
    token: str = "",
    who: str = "",
) -> Started:
    """Launch what a restart that was cut off had kept, with `argv` as another command line.

    With a `token` of this console's own the action is its from now on. Raises Busy where another console goes on with
    it, BringupError where that cannot be, and LaunchFailed; LeftToAnother where what had started the server still runs,
    as long as that was not said before (step "undecided"), and always where it is known to start it again.
    """
    if "launch" not in left.can:
        raise BringupError(left.sentence, "There is nothing to launch.")
    left = replace(left, claim=await journal.take_over(host, left.claim, token or left.claim.token, who))
    async with journal.held(host, left.claim):
        started = await _resumed(host, left, report, argv, pace or Pace(), watch)
        return await _settled(host, left.claim, started, pace or Pace())


async def _settled(host: Host, claimed: Claim, started: Started, pace: Pace, log: str = "") -> Started:
    """End the action of a launch; raises LaunchFailed where what a configured command has started has ended already.

    Nothing is kept for another try then: the command is in the configuration.
    """
    started, ended = await ask_after(host, started, pace.sleep)
    await journal.settle(host, claimed)
    if ended:
        raise ended_already(host.name, started, log)
    return started


async def _resumed(
    host: Host, left: Unfinished, report: Report, argv: Sequence[str] | None, pace: Pace, watch: int
) -> Started:
    await _leave_to_another(host, left)
    if left.own:
        own = OwnLaunch(left.own, left.says, left.launcher, left.lives, at_work=left.at_work is not None)
        return await start_by_own(host, left.claim, own, report=report, pace=pace, watch=watch)
    report(Step("Launching what was kept of it.", name="launching"))
    if argv is not None:
        await _refuse_taken(host, Server(*left.server, engine="", argv=()), (), argv)
        await edit(host, left.claim, argv)
    return await launch_kept(host, left.claim, left.command, watch=watch)


async def _leave_to_another(host: Host, left: Unfinished) -> None:
    living = await starters(host, Launcher(above=left.starters))
    if not living or (left.step == "undecided" and not left.respawns):
        return
    await journal.step(host, left.claim, "undecided")
    stopped = Stopped(supervised=True, starters=living)
    raise LeftToAnother(f"The server on {host.name} has ended; {stopped.may_come_back}.", stopped)


def check_edit(server: Server, argv: Sequence[str] | None) -> None:
    """Raise UsageError where an edited command would not be the one that is launched."""
    if argv is None:
        return
    if is_own(server.launcher.start) or server.launcher.respawns:
        raise UsageError(
            f"The command belongs to {server.launcher.words}: it would start the old one again.",
            "Change it there, then restart.",
        )
    if not argv or not argv[0]:
        raise UsageError("The edited command is empty.", "Nothing was done.")


async def _refuse_taken(
    host: Host, server: Server, ours: Collection[int], argv: Sequence[str] | None, command: LaunchCommand | None = None
) -> None:
    taken = await why_taken(host, server, ours, argv=argv, command=command.command if command is not None else "")
    if taken:
        raise BringupError(taken, "Nothing was done. Give it another port, or end what holds that one.")


def _patient(pace: Pace, server: Server, way: Signal, *, regardless: bool) -> Pace:
    """Return the pace with the time that whatever stands above the server is given to start it again, or to end."""
    if pace.respawn is not None:
        return pace
    if keeps_down(server.launcher, way) or not may_return(server.launcher):
        return replace(pace, respawn=0.0)
    perhaps = 0.0 if regardless else PERHAPS_WAIT
    return replace(pace, respawn=SUPERVISOR_WAIT if server.launcher.respawns else perhaps)


async def _kept_or_released(
    host: Host,
    plan: Survey,
    claimed: Claim,
    argv: Sequence[str] | None,
    command: LaunchCommand | None,
    report: Report,
) -> Launchable | None:
    """Keep what the launch needs; where that cannot be, nothing was done and the claim is given back."""
    try:
        check_edit(plan.server, argv)
        await _refuse_taken(host, plan.server, [each.pid for each in plan.members], argv, command)
        return await _keep(host, plan, claimed, argv, command, report)
    except ConnectionLost:
        raise
    except BringupError:
        await journal.release(host, claimed)
        raise


async def _keep(
    host: Host,
    plan: Survey,
    claimed: Claim,
    argv: Sequence[str] | None,
    command: LaunchCommand | None,
    report: Report,
) -> Launchable | None:
    """Keep what the launch needs; None where the launcher starts the server by itself."""
    launcher = plan.server.launcher
    if command is not None:
        kept: Launchable | None = await prepare(host, claimed, command)
        await journal.step(host, claimed, "claimed", plan.members)
        return kept
    if is_own(launcher.start):
        await remember(host, claimed)
        await journal.step(host, claimed, "claimed", plan.members)
        return None
    report(Step("Keeping command, directory and environment of the server on the host.", name="claimed"))
    try:
        kept = await capture(host, plan.server, claimed)
    except ConnectionLost:
        raise
    except BringupError:
        if launcher.bound or not launcher.respawns:
            raise
        kept = None
        await remember(host, claimed)
    if kept is not None and argv is not None:
        await edit(host, claimed, argv)
    await journal.step(host, claimed, "claimed", plan.members)
    return kept


async def _started_again(
    host: Host, server: Server, claimed: Claim, stopped: Stopped, *, regardless: bool
) -> Started | None:
    """Return what a supervisor started; raises BringupError where nothing must be launched now."""
    if stopped.again is not None:
        return Started(stopped.again.pid, stopped.again.start)
    if not stopped.complete:
        raise BringupError(f"{stopped.sentence} Nothing was launched.", _KEPT)
    if not stopped.supervised or (regardless and not server.launcher.respawns):
        return None
    await journal.step(host, claimed, "undecided")
    who = server.launcher.words
    if server.launcher.respawns:
        raise LeftToAnother(f"The server was stopped, and {who} has not started it again yet on {host.name}.", stopped)
    who = stopped.may_come_back or f"{who} may start it again"
    raise LeftToAnother(f"The server on {host.name} was stopped; {who}.", stopped)


async def _launch(
    host: Host, server: Server, claimed: Claim, kept: Launchable | None, report: Report, pace: Pace, watch: int
) -> Started:
    if kept is not None:
        report(Step("Launching it again.", name="launching"))
        return await relaunch(host, kept, watch=watch)
    own = own_launch(server.launcher)
    return await start_by_own(host, claimed, own, report=report, pace=pace, watch=watch)
