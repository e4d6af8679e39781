"""The steps from a polite request to a host that is free again.

A stop asks the launcher and waits; what is left when the wait is over gets SIGKILL. After SIGKILL the driver still
needs time to take the memory back, and a launch before that fails, so the GPUs and the port are waited for as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from math import ceil

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process
from bringup.engines.endings import ending_of
from bringup.hosts.base import Host
from bringup.hosts.control import journal, processes
from bringup.hosts.control.gpu_memory import Holders, still_held
from bringup.hosts.control.in_time import in_time
from bringup.hosts.control.journal import Claim
from bringup.hosts.control.members import Members
from bringup.hosts.control.own_command import OwnStop
from bringup.hosts.control.pace import Pace
from bringup.hosts.control.processes import Fate, Identity, Killed, Signal
from bringup.hosts.control.respawn import find_again, keeps_down, may_return, running, starters
from bringup.hosts.control.steps import Report, Step, count, count_ended, still_run
from bringup.hosts.control.stopped import Stopped
from bringup.hosts.control.surveying import Survey, nobody
from bringup.hosts.denied import log_in

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
    A host that is slow to answer is asked again until the times are over. Raises ChannelRefused when the launcher may
    not be signalled, or its command fails and it runs on (nothing else was done then), Busy when another action took
    over, and ConnectionLost.
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
        self._ending = ending_of(plan.server.engine)
        self._pace = pace if pace.drain is not None else replace(pace, drain=self._ending.drain)
        self._budget = self._pace.drain or 0.0
        self._claim = claimed
        self._tell = report
        self._told: Step | None = None
        self._step = ""
        self._beat = pace.clock()
        self._members = Members(host, plan, is_engine, self._say)
        self._killed: set[Identity] = set()
        self._notes: list[str] = []
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
            await self._run_own()
        elif signal != "KILL" and launcher is not None and await self._ask(launcher, signal):
            await self._drain(launcher, signal)
        # Where the launcher has ended, nobody asks the rest to end but we.
        elif signal != "KILL" and await self._ask_rest(signal):
            await self._drain(None, signal)
        if not self._may_kill and (left := await self._members.left()):
            return replace(self._came(left), spared=True, took=self._pace.clock() - begun)
        await self._enter("killing")
        await self._kill()
        left = await self._members.left()
        took = self._pace.clock() - begun
        await self._enter("waiting")
        gpus = await self._gpus({each.pid for each in left})
        again, supervised = (None, False) if left else await self._again(signal)
        return replace(
            self._came(left),
            gpu_holders=tuple(sorted(gpus.held)),
            unasked=gpus.unasked,
            port_user=await self._port() if again is None else "",
            again=again,
            supervised=supervised,
            starters=await self._starters() if supervised or again else (),
            took=took,
            notes=tuple(self._notes),
        )

    def _came(self, left: Sequence[Process]) -> Stopped:
        """Return what came of the processes."""
        known = self._members.known
        # What came during the stop and went by itself, as a compiler does, is nobody's concern.
        told = self._members.planned | self._killed
        return Stopped(
            ended=tuple(each for identity, each in known.items() if identity in told and each not in left),
            killed=tuple(known[each] for each in known if each in self._killed and known[each] not in left),
            remains=tuple(left),
            unseen=self._members.unseen,
            port=self._plan.server.port,
            notes=tuple(self._notes),
        )

    @property
    def _may_kill(self) -> bool:
        return self._pace.kills or self._pace.hurry.asked

    async def _enter(self, step: str) -> None:
        """Begin a step: write it down with all processes known by now."""
        self._step = step
        if self._claim is not None:
            _, slow = await in_time(journal.step(self._host, self._claim, step, self._members.known.values()), None)
            self._beat = self._beat if slow else self._pace.clock()

    async def _rest(self) -> None:
        """Pause between two looks, and renew the claim now and then."""
        await self._pace.sleep(STEP)
        if self._claim is not None and self._pace.clock() - self._beat >= journal.BEAT:
            await self._enter(self._step)

    async def _ask(self, launcher: Process, signal: Signal) -> bool:
        """Send the polite signal to the launcher; return whether it was there."""
        fate = (await self._signal([launcher], signal)).get(launcher.pid)
        if fate == "denied":
            raise ChannelRefused(
                f"{launcher.comm} (PID {launcher.pid}) on {self._host.name} belongs to {launcher.user}, and we may not"
                " signal it. Nothing was done.",
                f"{log_in(launcher.user)}.",
                reason="denied",
            )
        if fate == "sent":
            self._say(Step(f"SIG{signal} sent to {launcher.comm} (PID {launcher.pid}).", self._budget))
        return fate == "sent"

    async def _ask_rest(self, signal: Signal) -> bool:
        """Send the polite signal to all that the launcher has left behind; return whether there was anything."""
        left = await self._members.fresh()
        if left:
            self._say(Step(f"SIG{signal} sent to {count(left)} without a launcher.", self._budget))
            await self._signal(left, signal)
        return bool(left)

    async def _signal(self, to: Sequence[Process], signal: Signal) -> Mapping[int, Fate]:
        fates, slow = await in_time(processes.signal(self._host, to, signal), {})
        if slow:
            what = f"Whether SIG{signal} has reached {count(to)} on {self._host.name} is not known: {slow}"
            raise ChannelRefused(
                what, "Nothing else was done. Look at the server before you do more.", reason="timeout"
            )
        return fates

    async def _run_own(self) -> None:
        """Run the launcher's own command, and wait for what it leaves; what took all of its time has none left."""
        own = OwnStop(self._host, self._plan, self._budget, self._say, self._members.left, self._pace)
        note = await own.run(self._rest)
        if note:
            self._notes.append(note)
            self._say(Step(f"{note}."))
        if not own.is_overdue:
            await self._drain(None, "OWN")

    async def _drain(self, launcher: Process | None, signal: Signal) -> None:
        """Wait for the tree to end by itself; without a launcher to ask again, for what its own command left."""
        begun, drain = self._pace.clock(), self._budget
        again = self._ending.again if signal == "TERM" and self._ending.again else None
        then = "SIGKILL in {} s" if self._pace.kills else "given up in {} s, nothing killed"
        while left := await self._members.left():
            passed = self._pace.clock() - begun
            if again is not None and passed >= again and launcher is not None and _runs(launcher, left):
                again = None
                await self._ask(launcher, signal)
            if passed >= drain or self._pace.hurry.asked:
                return
            self._say(Step(f"{still_run(left)}; {then.format(ceil(drain - passed))}.", drain - passed))
            await self._rest()

    async def _kill(self) -> None:
        """Send SIGKILL to what is left, and to what it starts meanwhile, until there is nothing more."""
        begun, tried = self._pace.clock(), False
        while True:
            left = await self._members.fresh()
            # However slow the host is, it is tried once.
            if not left or (tried and self._pace.clock() - begun > KILL_WAIT):
                return
            self._say(Step(f"SIGKILL goes to {count(left)}."))
            nothing: Killed = ({}, ())
            (fates, started), _ = await in_time(processes.kill(self._host, left, self._plan.apart), nothing)
            by_itself = ("gone", "reused")
            self._killed |= {(each.pid, each.start) for each in left if fates.get(each.pid) not in by_itself}
            self._members.known |= {(each.pid, each.start): each for each in started}
            self._killed |= {(each.pid, each.start) for each in started}
            tried = True
            if all(fates.get(each.pid) == "denied" for each in left):
                return
            await self._rest()

    async def _gpus(self, left: Set[int]) -> Holders:
        """Wait until the driver has taken back the memory of all but what is left, or cannot be asked."""
        begun, ended = self._pace.clock(), self._members.pids - left
        unasked = Holders(unasked="the host was too slow to answer")
        while (gpus := (await in_time(still_held(self._host, ended), unasked))[0]).held:
            waited = self._pace.clock() - begun
            if waited >= GPU_WAIT:
                break
            text = f"The GPU driver still holds the memory of {count_ended(gpus.held)} ({waited:.0f} s)."
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
            # A command after which something had to be killed has not done what it is for.
            wait = 0.0 if keeps_down(launcher, signal) and not self._killed else RESPAWN
        if wait > 0:
            await self._enter("returning")
        begun = self._pace.clock()
        while True:
            before = {*self._before, *self._members.known}
            (found, may), _ = await in_time(find_again(self._host, self._plan.server, before), (None, True))
            passed = self._pace.clock() - begun
            if found is not None or not may or passed >= wait:
                return found, may and not keeps_down(launcher, signal)
            who = launcher.words if launcher.respawns is not False else "what stands above it"
            self._say(Step(f"Waiting whether {who} starts it again, or ends.", wait - passed))
            await self._rest()

    async def _starters(self) -> tuple[Process, ...]:
        return (await in_time(starters(self._host, self._plan.server.launcher), ()))[0]

    async def _port(self) -> str:
        """Wait for the port to be free; return whose socket still listens."""
        port = self._plan.server.port
        if port is None:
            return ""
        begun = self._pace.clock()
        while True:
            user, slow = await in_time(processes.port_user(self._host, port), "")
            waited = self._pace.clock() - begun
            if waited >= PORT_WAIT or not (user or slow):
                break
            if user:
                self._say(Step(f"Port {port} is still listened on (by {user}).", PORT_WAIT - waited))
            await self._rest()
        if slow:
            self._notes.append(f"whether port {port} is free is not known, for the host was too slow to answer")
        return user

    def _say(self, step: Step) -> None:
        said = replace(step, name=self._step)
        if self._told is None or said.text != self._told.text:
            self._told = said
            self._tell(said)


def _runs(process: Process, left: Sequence[Process]) -> bool:
    return any((each.pid, each.start) == (process.pid, process.start) for each in left)
