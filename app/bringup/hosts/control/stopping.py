"""The steps from a polite request to a host that is free again.

A stop asks the launcher and waits; what is left when the wait is over gets SIGKILL. After SIGKILL the driver still
needs time to take the memory back, and a launch before that fails, so the GPUs and the port are waited for as well.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process
from bringup.hosts.base import Host
from bringup.hosts.control import journal, processes
from bringup.hosts.control.journal import Claim
from bringup.hosts.control.own_command import OwnStop
from bringup.hosts.control.processes import Identity, Signal
from bringup.hosts.control.respawn import find_again, running
from bringup.hosts.control.steps import Report, Step, count
from bringup.hosts.control.stopped import Stopped
from bringup.hosts.control.surveying import Survey, look, nobody

DRAIN = 10.0
"""Seconds between the polite request and SIGKILL."""
KILL_WAIT = 20.0
GPU_WAIT = 60.0
STEP = 0.5
AGAIN: Mapping[str, float] = {"vllm": 2.0}
"""Engines that swallow the first SIGTERM while they load (vLLM 0.10.2 to 0.32): seconds until the second one."""
RESPAWN = 5.0
"""Seconds in which a supervisor's new start is noticed after a stop."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of a stop, and the clock it goes by."""

    drain: float = DRAIN
    """Seconds between the polite request and SIGKILL."""
    respawn: float | None = None
    """Seconds to wait for a supervisor that starts the server again; None: as long as its kind asks for."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic


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
        self._pace = pace
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
        await self._enter("stopping")
        if self._plan.server.launcher.respawns is not False:
            self._before = await running(self._host)
        if signal == "OWN":
            await OwnStop(self._host, self._plan.server, self._pace.drain, self._say, self._left).run(self._rest)
            await self._drain(None, signal)
        # Where the launcher has ended meanwhile, nobody ends the rest but we.
        elif signal != "KILL" and launcher is not None and await self._ask(launcher, signal):
            await self._drain(launcher, signal)
        await self._enter("killing")
        await self._kill()
        left = await self._left()
        await self._enter("waiting")
        holders = await self._gpus()
        again, supervised = (None, False) if left else await self._again(signal)
        user = await self._port() if again is None else ""
        known = self._known
        return Stopped(
            ended=tuple(each for each in known.values() if each not in left),
            killed=tuple(known[each] for each in known if each in self._killed and known[each] not in left),
            remains=left,
            gpu_holders=holders,
            port=self._plan.server.port,
            port_user=user,
            again=again,
            supervised=supervised,
            took=self._pace.clock() - begun,
        )

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
            self._say(Step(f"SIG{signal} sent to {launcher.comm} (PID {launcher.pid}).", self._pace.drain))
        return fate == "sent"

    async def _drain(self, launcher: Process | None, signal: Signal) -> None:
        """Wait for the tree to end by itself; without a launcher to ask again, for what its own command left."""
        begun, drain = self._pace.clock(), self._pace.drain
        again = AGAIN.get(self._plan.server.engine) if signal == "TERM" else None
        while left := await self._left():
            passed = self._pace.clock() - begun
            if again is not None and passed >= again and launcher in left and launcher is not None:
                again = None
                await self._ask(launcher, signal)
            if passed >= drain:
                return
            self._say(Step(f"{count(left)} still run; SIGKILL in {drain - passed:.0f} s.", drain - passed))
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
        rows = await processes.list_processes(self._host, sorted(pid for pid, _ in self._known))
        running = {(row.pid, row.start) for row in rows.values() if not row.ended}
        return tuple(each for identity, each in self._known.items() if identity in running)

    async def _gpus(self) -> tuple[int, ...]:
        """Wait until the driver has taken the memory of the known processes back."""
        ours = {pid for pid, _ in self._known}
        begun = self._pace.clock()
        while held := ours & (await processes.gpu_holders(self._host) or {}).keys():
            waited = self._pace.clock() - begun
            if waited >= GPU_WAIT:
                break
            text = f"The GPU driver still holds the memory of {len(held)} ended processes ({waited:.0f} s)."
            self._say(Step(text, GPU_WAIT - waited))
            await self._rest()
        return tuple(sorted(held))

    async def _again(self, signal: Signal) -> tuple[Process | None, bool]:
        """Look whether something above the server has started it again, and give it time where it is known to.

        Returns the new process, and whether what would start one still runs.
        """
        launcher, wait = self._plan.server.launcher, self._pace.respawn
        if launcher.respawns is False:
            return None, False
        if wait is None:
            wait = 0.0 if signal == "OWN" else RESPAWN
        begun = self._pace.clock()
        while True:
            found, may = await find_again(self._host, self._plan.server, {*self._before, *self._known})
            passed = self._pace.clock() - begun
            if found is not None or not may or passed >= wait:
                return found, may and signal != "OWN"
            self._say(Step(f"Waiting whether {launcher.words} starts it again.", wait - passed))
            await self._rest()

    async def _port(self) -> str:
        """Wait for the port to be free; return whose socket still listens."""
        port = self._plan.server.port
        if port is None:
            return ""
        begun = self._pace.clock()
        while user := await processes.port_user(self._host, port):
            waited = self._pace.clock() - begun
            if waited >= DRAIN:
                break
            self._say(Step(f"Port {port} is still listened on (by {user}).", DRAIN - waited))
            await self._rest()
        return user

    def _say(self, step: Step) -> None:
        said = replace(step, name=self._step)
        if self._told is None or said.text != self._told.text:
            self._told = said
            self._tell(said)
