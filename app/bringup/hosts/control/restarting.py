"""A restart: stop the server, wait until its host is free, launch it again by whatever launched it the first time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import replace

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, UsageError
from bringup.core.events import Launcher, Server
from bringup.hosts.base import Host
from bringup.hosts.control import journal, processes
from bringup.hosts.control.configured import LaunchCommand, prepare
from bringup.hosts.control.journal import Claim
from bringup.hosts.control.launching import LaunchFailed, Started
from bringup.hosts.control.own_command import is_own, run_start, says
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.processes import Identity, Signal
from bringup.hosts.control.relaunch import WATCH, Launchable, capture, edit, launch_kept, relaunch
from bringup.hosts.control.respawn import find_again, may_return, running, starters
from bringup.hosts.control.steps import Report, Step
from bringup.hosts.control.stopped import Stopped
from bringup.hosts.control.stopping import STEP, stop
from bringup.hosts.control.surveying import Survey, nobody
from bringup.hosts.control.unfinished import Unfinished

SUPERVISOR_WAIT = 30.0
"""Seconds that a supervisor is given to start the server again; it is never raced with a launch of ours."""
PERHAPS_WAIT = 10.0
"""The same, where nobody can tell whether what stands above the server starts it again."""
APPEAR = 20.0
"""Seconds for a server to be seen after its launcher's own start command."""


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

    Raises BringupError, and LeftToAnother. Before anything was done, the claim is given back; after that, what was kept
    stays on the host and `unfinished` tells of it, so that the launch can be tried again or be given up.
    """
    way: Signal = signal or ("OWN" if plan.server.launcher.stop else "TERM")
    kept = await _kept_or_released(host, plan, claimed, argv, command, report)
    pace = _patient(pace or Pace(), plan.server, way, regardless=regardless)
    try:
        stopped = await stop(host, plan, signal=way, report=report, pace=pace, is_engine=is_engine, claimed=claimed)
    except ChannelRefused as refused:
        # Nothing was signalled. What a launcher's own command has begun may go on, though it failed.
        if refused.reason == "denied" and way != "OWN":
            await journal.release(host, claimed)
        raise
    started = await _started_again(host, plan.server, claimed, stopped, regardless=regardless)
    if started is None:
        started = await _launch(host, plan.server, claimed, kept, report, pace, watch)
    await journal.release(host, claimed)
    return replace(started, unchecked=stopped.unchecked)


async def resume(
    host: Host,
    left: Unfinished,
    *,
    report: Report,
    argv: Sequence[str] | None = None,
    watch: int = WATCH,
) -> Started:
    """Launch what a restart that was cut off had kept, with `argv` as another command line.

    Raises BringupError where that cannot be, and LaunchFailed; LeftToAnother where what had started the server still
    runs, as long as that was not said before (step "undecided"), and always where it is known to start it again.
    """
    if "launch" not in left.can:
        raise BringupError(left.sentence, "There is nothing to launch.")
    await _leave_to_another(host, left)
    report(Step("Launching what was kept of it.", name="launching"))
    if is_own(left.command):
        await run_start(host, left.command)
        started = Started(0, 0)
    else:
        if argv is not None:
            await edit(host, left.claim, argv)
        started = await launch_kept(host, left.claim, left.command, watch=watch)
    await journal.release(host, left.claim)
    return started


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


def _patient(pace: Pace, server: Server, way: Signal, *, regardless: bool) -> Pace:
    """Return the pace with the time that whatever stands above the server is given to start it again, or to end."""
    if pace.respawn is not None:
        return pace
    if way == "OWN" or not may_return(server.launcher):
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
        await journal.step(host, claimed, "claimed", plan.members)
        return None
    report(Step("Keeping command, directory and environment of the server on the host.", name="claimed"))
    try:
        kept = await capture(host, plan.server, claimed)
    except ConnectionLost:
        raise
    except BringupError:
        if not launcher.respawns:
            raise
        kept = None
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
    command = server.launcher.start
    await journal.step(host, claimed, "starting")
    report(Step(f"Running on the host: {command}", name="starting"))
    before = await running(host)
    await _beating(host, claimed, "starting", run_start(host, command))
    return await _appeared(host, server, before, pace, watch)


async def _beating(host: Host, claimed: Claim, name: str, work: Coroutine[None, None, None]) -> None:
    """Wait for something that may take long, and renew the claim meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=journal.BEAT))[0]:
            await journal.step(host, claimed, name)
        task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _appeared(host: Host, server: Server, before: Collection[Identity], pace: Pace, watch: int) -> Started:
    """Wait for the server that the launcher's own command started, and watch it for a while."""
    begun = pace.clock()
    found, _ = await find_again(host, server, before)
    while found is None and pace.clock() - begun < APPEAR:
        await pace.sleep(STEP)
        found, _ = await find_again(host, server, before)
    if found is None:
        raise LaunchFailed(
            f"{server.launcher.words} was started on {host.name}, but no server appeared:"
            f" {await says(host, server.launcher.says) or 'it said nothing'}."
        )
    begun = pace.clock()
    while pace.clock() - begun < watch:
        await pace.sleep(STEP)
        row = (await processes.list_processes(host, [found.pid])).get(found.pid)
        if row is None or row.start != found.start or row.ended:
            words = await says(host, server.launcher.says)
            raise LaunchFailed(f"The new server on {host.name} ended at once: {words or 'it said nothing'}.")
    return Started(found.pid, found.start)
