"""The steps from a polite request to a host that is free again.

A stop asks the launcher and waits; what is left when the wait is over gets SIGKILL. After SIGKILL the driver still
needs time to take the memory back, and a launch before that fails, so the GPUs and the port are waited for as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process
from bringup.engines.endings import ending_of
from bringup.hosts.base import Host
from bringup.hosts.control import journal, processes
from bringup.hosts.control.gpu_memory import Holders, gpu_holders
from bringup.hosts.control.journal import Claim
from bringup.hosts.control.own_command import OwnStop
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.processes import Identity, Signal
from bringup.hosts.control.respawn import find_again, may_return, running, starters
from bringup.hosts.control.steps import Report, Step, count, still_run
from bringup.hosts.control.stopped import Stopped
from bringup.hosts.control.surveying import Survey, look, nobody

KILL_WAIT = 20.0
GPU_WAIT = 60.0
PORT_WAIT = 10.0
STEP = 0.5
RESPAWN = 5.0
"""Seconds in which a supervisor's new start is noticed after a stop."""


async def stop(
    host: Host,
    plan: Survey,
    *,
    signal: Signal = "TERM",
    report: Report,
    pace: Pace | None = None,
    is_engine: Callable[[str], bool] = nobody,
    claimed: Claim | None = None,
) -> Stopped:
    """Stop a server and return what came of it; `report` is told every step, with the seconds left where there are any.

    `signal` is "OWN" for the launcher's own stop command. With a claim, every step is written down on the host.
    Raises ChannelRefused when the launcher may not be signalled or its command fails (nothing else was done then),
    Busy when another action took over, and ConnectionLost.
    """
    return await _Stop(host, plan, report, is_engine, pace or Pace(), claimed).run(signal)


class _Stop:
    """One stop under way."""

    def __init__(
        self,
        host: Host,
        plan: Survey,
        report: Report,
        is_engine: Callable[[str], bool],
        pace: Pace,
        claimed: Claim | None,
    ) -> None:
        self._host = host
        self._plan = plan
        self._is_engine = is_engine
        self._ending = ending_of(plan.server.engine)
        self._pace = pace if pace.drain is not None else replace(pace, drain=self._ending.drain)
        self._budget = self._pace.drain or 0.0
        self._claim = claimed
        self._tell = report
        self._told: Step | None = None
        self._step = ""
        self._beat = pace.clock()
        self._known = {(each.pid, each.start): each for each in plan.members}
        self._killed: set[Identity] = set()
        self._before: frozenset[Identity] = frozenset()

    async def run(self, signal: Signal) -> Stopped:
        """Go through all steps."""
        begun = self._pace.clock()
        launcher = self._plan.launcher
        self._pace.hurry.asked = False
        await self._enter("stopping")
        if may_return(self._plan.server.launcher):
            self._before = await running(self._host)
        if signal == "OWN":
            own = OwnStop(self._host, self._plan.server, self._budget, self._say, self._left, self._pace.hurry)
            await own.run(self._rest)
            await self._drain(None, signal)
        # Where the launcher has ended meanwhile, nobody ends the rest but we.
        elif signal != "KILL" and launcher is not None and await self._ask(launcher, signal):
            await self._drain(launcher, signal)
        if not self._may_kill and (left := await self._left()):
            return replace(self._came(left), spared=True, took=self._pace.clock() - begun)
        await self._enter("killing")
        await self._kill()
        left = await self._left()
        await self._enter("waiting")
        gpus = await self._gpus()
        again, supervised = (None, False) if left else await self._again(signal)
        return replace(
            self._came(left),
            gpu_holders=tuple(sorted(gpus.held.keys() & self._pids)),
            unasked=gpus.unasked,
            port_user=await self._port() if again is None else "",
            again=again,
            supervised=supervised,
            starters=await starters(self._host, self._plan.server.launcher) if supervised else (),
            took=self._pace.clock() - begun,
        )

    def _came(self, left: Sequence[Process]) -> Stopped:
        """Return what came of the processes."""
        known = self._known
        return Stopped(
            ended=tuple(each for each in known.values() if each not in left),
            killed=tuple(known[each] for each in known if each in self._killed and known[each] not in left),
            remains=tuple(left),
            port=self._plan.server.port,
        )

    @property
    def _may_kill(self) -> bool:
        return self._pace.kills or self._pace.hurry.asked

    @property
    def _pids(self) -> set[int]:
        return {pid for pid, _ in self._known}

    async def _enter(self, step: str) -> None:
        """Begin a step: write it down with all processes known by now."""
        self._step = step
        if self._claim is not None:
            await journal.step(self._host, self._claim, step, self._known.values())
            self._beat = self._pace.clock()

    async def _rest(self) -> None:
        """Pause between two looks, and renew the claim now and then."""
        await self._pace.sleep(STEP)
        if self._claim is not None and self._pace.clock() - self._beat >= journal.BEAT:
            await self._enter(self._step)

    async def _ask(self, launcher: Process, signal: Signal) -> bool:
        """Send the polite signal to the launcher; return whether it was there."""
        fate = (await processes.signal(self._host, [launcher], signal)).get(launcher.pid)
        if fate == "denied":
            raise ChannelRefused(
                f"{launcher.comm} (PID {launcher.pid}) on {self._host.name} belongs to {launcher.user}, and we may not"
                " signal it. Nothing was done.",
                f"Log in as {launcher.user} or as root.",
                reason="denied",
            )
        if fate == "sent":
            self._say(Step(f"SIG{signal} sent to {launcher.comm} (PID {launcher.pid}).", self._budget))
        return fate == "sent"

    async def _drain(self, launcher: Process | None, signal: Signal) -> None:
        """Wait for the tree to end by itself; without a launcher to ask again, for what its own command left."""
        begun, drain = self._pace.clock(), self._budget
        again = self._ending.again if signal == "TERM" and self._ending.again else None
        then = "SIGKILL in {} s" if self._pace.kills else "given up in {} s, nothing is killed"
        while left := await self._left():
            passed = self._pace.clock() - begun
            if again is not None and passed >= again and launcher in left and launcher is not None:
                again = None
                await self._ask(launcher, signal)
            if passed >= drain or self._pace.hurry.asked:
                return
            self._say(Step(f"{still_run(left)}; {then.format(ceil(drain - passed))}.", drain - passed))
            await self._rest()

    async def _kill(self) -> None:
        """Send SIGKILL to what is left, and to what it starts meanwhile, until there is nothing more."""
        begun = self._pace.clock()
        while True:
            left = await self._fresh()
            if not left or self._pace.clock() - begun > KILL_WAIT:
                return
            self._say(Step(f"SIGKILL goes to {count(left)}."))
            self._killed |= {(each.pid, each.start) for each in left}
            await self._kill_groups(left)
            fates = await processes.signal(self._host, left, "KILL")
            if all(fates.get(each.pid) == "denied" for each in left):
                return
            await self._rest()

    async def _kill_groups(self, left: Sequence[Process]) -> None:
        """End whole groups at once: a process that is just being started cannot slip away then."""
        for group in sorted({each.pgid for each in left}):
            if not any(each.pgid == group for each in self._plan.bystanders):
                await processes.signal_group(self._host, group, left, "KILL")

    async def _fresh(self) -> tuple[Process, ...]:
        """Look at the whole tree again: what was started since is the server's too."""
        members, _, _ = await look(self._host, self._plan.server, tuple(self._known.values()), self._is_engine)
        self._known |= {(each.pid, each.start): each for each in members}
        return members

    async def _left(self) -> tuple[Process, ...]:
        """Return which of the known processes still run."""
        if not self._known:
            return ()
        rows = await processes.list_processes(self._host, sorted(self._pids))
        running = {(row.pid, row.start) for row in rows.values() if not row.ended}
        return tuple(each for identity, each in self._known.items() if identity in running)

    async def _gpus(self) -> Holders:
        """Wait until the driver has taken the memory of the known processes back, or cannot be asked."""
        begun = self._pace.clock()
        while held := self._pids & (gpus := await gpu_holders(self._host)).held.keys():
            waited = self._pace.clock() - begun
            if waited >= GPU_WAIT:
                break
            text = f"The GPU driver still holds the memory of {len(held)} ended processes ({waited:.0f} s)."
            self._say(Step(text, GPU_WAIT - waited))
            await self._rest()
        return gpus

    async def _again(self, signal: Signal) -> tuple[Process | None, bool]:
        """Look whether something above the server has started it again, and give it time where it is known to.

        Returns the new process, and whether what would start one still runs.
        """
        launcher, wait = self._plan.server.launcher, self._pace.respawn
        if not may_return(launcher):
            return None, False
        if wait is None:
            wait = 0.0 if signal == "OWN" else RESPAWN
        begun = self._pace.clock()
        while True:
            found, may = await find_again(self._host, self._plan.server, {*self._before, *self._known})
            passed = self._pace.clock() - begun
            if found is not None or not may or passed >= wait:
                return found, may and signal != "OWN"
            who = launcher.words if launcher.respawns is not False else "what stands above it"
            self._say(Step(f"Waiting whether {who} starts it again, or ends.", wait - passed))
            await self._rest()

    async def _port(self) -> str:
        """Wait for the port to be free; return whose socket still listens."""
        port = self._plan.server.port
        if port is None:
            return ""
        begun = self._pace.clock()
        while user := await processes.port_user(self._host, port):
            waited = self._pace.clock() - begun
            if waited >= PORT_WAIT:
                break
            self._say(Step(f"Port {port} is still listened on (by {user}).", PORT_WAIT - waited))
            await self._rest()
        return user

    def _say(self, step: Step) -> None:
        said = replace(step, name=self._step)
        if self._told is None or said.text != self._told.text:
            self._told = said
            self._tell(said)
