"""Stopping a server: what that touches, and the steps from a polite signal to a host that is free again.

A stop signals the launcher and waits; what is left when the wait is over gets SIGKILL. After SIGKILL the driver still
needs time to take the memory back, and a launch before that fails, so the GPUs and the port are waited for as well.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from bringup.core.errors import ChannelRefused
from bringup.core.events import Process, Server
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.family import adopted, descendants, launcher_group, own_session, proven
from bringup.hosts.control.processes import Signal
from bringup.hosts.control.stopped import Stopped as Stopped

DRAIN = 10.0
"""Seconds between the polite signal and SIGKILL."""
KILL_WAIT = 20.0
GPU_WAIT = 60.0
STEP = 0.5
AGAIN: Mapping[str, float] = {"vllm": 2.0}
"""Engines that swallow the first SIGTERM while they load (vLLM 0.10.2 to 0.32): seconds until the second one."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a stop would touch, and what is near it and stays."""

    server: Server
    members: tuple[Process, ...]
    """Proven to be the server's: its tree, what was recorded as such, what was cut off from it."""
    bystanders: tuple[Process, ...] = ()
    """In the launcher's process group without being the server's: a script, a tee, a benchmark."""
    gpu_holders: tuple[int, ...] = ()
    """PIDs among the members that hold memory of a GPU."""

    @property
    def launcher(self) -> Process | None:
        """The launcher; None when it has ended."""
        server = self.server
        return next((each for each in self.members if (each.pid, each.start) == (server.pid, server.start)), None)


def _nobody(title: str) -> bool:
    return False


async def survey(
    host: Host, server: Server, known: Sequence[Process] = (), is_engine: Callable[[str], bool] = _nobody
) -> Survey:
    """Look at the server's processes and their neighbours.

    `known` are processes recorded earlier as the server's: they stay its own when the launcher is gone. `is_engine`
    tells whether a title is that of one of the engine's workers: it proves those that nobody recorded, but only in a
    group or session that the launcher itself made.
    """
    found = await _members(host, server, known, is_engine)
    holders = await processes.gpu_holders(host) or ()
    return Survey(*found, tuple(each.pid for each in found[1] if each.pid in holders))


async def _members(
    host: Host, server: Server, known: Sequence[Process], is_engine: Callable[[str], bool]
) -> tuple[Server, tuple[Process, ...], tuple[Process, ...]]:
    rows = {pid: row for pid, row in (await processes.list_processes(host)).items() if not row.ended}
    ours = proven(rows, server, {(each.pid, each.start) for each in known})
    session = own_session(rows, server)
    group = launcher_group(rows, server, known)
    near = {pid for pid, row in rows.items() if group is not None and group > 1 and row.pgid == group}
    seen = await processes.describe(host, (rows[pid] for pid in ours | near | descendants(rows, session)))
    ours |= adopted(seen, session, is_engine, rows)
    members = tuple(each for each in seen if each.pid in ours)
    return server, members, tuple(each for each in seen if each.pid in near - ours)


async def stop(
    host: Host,
    plan: Survey,
    *,
    signal: Signal = "TERM",
    drain: float = DRAIN,
    report: Callable[[str], None],
    is_engine: Callable[[str], bool] = _nobody,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Stopped:
    """Stop a server and return what came of it; `report` is told every step in words, `drain` is in seconds.

    Raises ChannelRefused when the launcher may not be signalled (nothing was done then), and ConnectionLost.
    """
    return await _Stop(host, plan, report, is_engine, sleep, clock).run(signal, drain)


class _Stop:
    """One stop under way."""

    def __init__(
        self,
        host: Host,
        plan: Survey,
        report: Callable[[str], None],
        is_engine: Callable[[str], bool],
        sleep: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self._host = host
        self._plan = plan
        self._is_engine = is_engine
        self._sleep = sleep
        self._clock = clock
        self._tell = report
        self._told = ""
        self._known = {(each.pid, each.start): each for each in plan.members}
        self._killed: set[tuple[int, int]] = set()

    async def run(self, signal: Signal, drain: float) -> Stopped:
        """Go through all steps."""
        begun = self._clock()
        launcher = self._plan.launcher
        if signal != "KILL" and launcher is not None:
            await self._ask(launcher, signal)
            await self._drain(launcher, signal, drain)
        await self._kill()
        left = await self._left()
        holders = await self._gpus()
        user = await self._port()
        known = self._known
        return Stopped(
            ended=tuple(each for each in known.values() if each not in left),
            killed=tuple(known[each] for each in known if each in self._killed and known[each] not in left),
            remains=left,
            gpu_holders=holders,
            port=self._plan.server.port,
            port_user=user,
            took=self._clock() - begun,
        )

    async def _ask(self, launcher: Process, signal: Signal) -> None:
        """Send the polite signal to the launcher."""
        fate = (await processes.signal(self._host, [launcher], signal)).get(launcher.pid)
        if fate == "denied":
            raise ChannelRefused(
                f"{launcher.comm} (PID {launcher.pid}) on {self._host.name} belongs to {launcher.user}, and we may not"
                " signal it. Nothing was done.",
                f"Log in as {launcher.user} or as root.",
                reason="denied",
            )
        if fate == "sent":
            self._say(f"SIG{signal} sent to {launcher.comm} (PID {launcher.pid}).")

    async def _drain(self, launcher: Process, signal: Signal, drain: float) -> None:
        """Wait for the tree to end by itself."""
        begun = self._clock()
        again: float | None = AGAIN.get(self._plan.server.engine) if signal == "TERM" else None
        while left := await self._left():
            passed = self._clock() - begun
            if again is not None and passed >= again and launcher in left:
                again = None
                await self._ask(launcher, signal)
            if passed >= drain:
                return
            self._say(f"{_count(left)} still run; SIGKILL in {drain - passed:.0f} s.")
            await self._sleep(min(STEP, drain - passed))

    async def _kill(self) -> None:
        """Send SIGKILL to what is left, and to what it starts meanwhile, until there is nothing more."""
        begun = self._clock()
        while True:
            left = await self._fresh()
            if not left or self._clock() - begun > KILL_WAIT:
                return
            self._say(f"SIGKILL goes to {_count(left)}.")
            self._killed |= {(each.pid, each.start) for each in left}
            await self._kill_groups(left)
            fates = await processes.signal(self._host, left, "KILL")
            if all(fates.get(each.pid) == "denied" for each in left):
                return
            await self._sleep(STEP)

    async def _kill_groups(self, left: Sequence[Process]) -> None:
        """End whole groups at once: a process that is just being started cannot slip away then."""
        for group in sorted({each.pgid for each in left}):
            if not any(each.pgid == group for each in self._plan.bystanders):
                await processes.signal_group(self._host, group, left, "KILL")

    async def _fresh(self) -> tuple[Process, ...]:
        """Look at the whole tree again: what was started since is the server's too."""
        known = tuple(self._known.values())
        _, members, _ = await _members(self._host, self._plan.server, known, self._is_engine)
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
        begun = self._clock()
        while held := ours & (await processes.gpu_holders(self._host) or frozenset()):
            waited = self._clock() - begun
            if waited >= GPU_WAIT:
                break
            self._say(f"The GPU driver still holds the memory of {len(held)} ended processes ({waited:.0f} s).")
            await self._sleep(STEP)
        return tuple(sorted(held))

    async def _port(self) -> str:
        """Wait for the port to be free; return whose socket still listens."""
        port = self._plan.server.port
        if port is None:
            return ""
        begun = self._clock()
        while user := await processes.port_user(self._host, port):
            if self._clock() - begun >= DRAIN:
                break
            self._say(f"Port {port} is still listened on (by {user}).")
            await self._sleep(STEP)
        return user

    def _say(self, text: str) -> None:
        if text != self._told:
            self._told = text
            self._tell(text)


def _count(left: Collection[Process]) -> str:
    return "1 process" if len(left) == 1 else f"{len(left)} processes"
