"""One watched host: connects, finds the server, runs its channels, reconnects; the screen's Console."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from bringup.core.assess import assess
from bringup.core.defects import failure_of
from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, Unreachable
from bringup.core.events import LinkChanged, Server
from bringup.core.policy import Policy
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.hosts.base import Host
from bringup.hosts.greeting import greet
from bringup.session.actions import Actions
from bringup.session.backoff import ASK_OPERATOR, waits
from bringup.session.clock import HostClock
from bringup.session.console import Findings, Kept, Orphan, Recorded, Started, StopPlan, Unfinished
from bringup.session.deeds import Write
from bringup.session.diagnosing import examine, told_here
from bringup.session.ending import why_lost
from bringup.session.finder import Finder
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.picture import Picture
from bringup.session.recorder import Recorder
from bringup.session.retries import Retries
from bringup.session.server_watch import Channels
from bringup.session.starts import Starts
from bringup.session.target import Target
from bringup.session.waking import dead_after_sleep
from bringup.session.whole_log import WholeLog

if TYPE_CHECKING:
    from bringup.history.store import Store
    from bringup.hosts.control import LaunchCommand
    from bringup.recordings.place import Keeping

Connect = Callable[[], Awaitable[Host]]


class Session:
    """Watches one target over one connection at a time; implements `session.console.Console`."""

    _host: Host | None = None
    _task: asyncio.Task[None] | None = None
    _memory: asyncio.Task[None] | None = None
    _recording: asyncio.Task[None] | None = None

    def __init__(
        self,
        connect: Connect,
        target: Target,
        knowledge: Knowledge,
        clock: HostClock | None = None,
        history: Store | None = None,
        keeping: Keeping | None = None,
        write_down: Write | None = None,
    ) -> None:
        self._connect = connect
        self._knowledge = knowledge
        self._clock = clock or HostClock()
        self._picture = Picture(target.name)
        self._logs = Logs(self._picture, knowledge, self._clock)
        self._target = target
        self.retries = Retries()
        self.whole_log = WholeLog(self._reach, lambda: self.state)
        self._actions = Actions(target, self._picture, self._clock, knowledge, write=write_down)
        channels = Channels(self._picture, self._clock, self._logs, knowledge)
        self._finder = Finder(target, channels, lambda: self._actions.ended)
        self._starts = Starts(history, target, self._picture, self._clock, self._logs, knowledge.policy)
        seen = (target.name, self._picture, self._clock, self.verdict, lambda: self.is_level)
        self.recorder = Recorder(keeping, *seen) if keeping is not None else None
        """Records what is seen; None where nothing may be kept."""

    async def open(self) -> None:
        """Connect and begin to watch; raises Unreachable or UsageError when there is no way in."""
        self._tell_link("connecting")
        self._host = await self._enter()
        self._tell_link("up")
        self._task = asyncio.create_task(self._supervise(self._host), name="watch")
        self._memory = asyncio.create_task(self._starts.run(), name="history")
        if self.recorder is not None:
            self._recording = asyncio.create_task(self.recorder.run(), name="recorder")

    async def close(self) -> None:
        """Stop watching and end the connection; the server is not touched."""
        for task in (self._task, self._memory, self._recording):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if self._memory is not None:
            await self._starts.finish()
        if self._recording is not None and self.recorder is not None:
            await self.recorder.finish()
        await self._actions.ledger.finish()
        if self._host is not None:
            await self._host.close()

    async def wait(self) -> None:
        """Raise a BringupError with what went wrong when the watch ends by itself; giving up on it does not end it."""
        if self._task is None:
            return
        await asyncio.wait((self._task,))
        try:
            await self._task
        except Exception as error:
            raise failure_of(error) from error

    # --- what a screen asks ---

    @property
    def rev(self) -> int:
        """Grows with every change of state or log."""
        return self._picture.rev

    @property
    def state(self) -> State:
        """The newest state."""
        return self._picture.state

    @property
    def is_level(self) -> bool:
        """All that the logs held when they were found has been read."""
        return self._logs.is_level

    @property
    def read_only(self) -> bool:
        """Actions on the server that is watched are turned off."""
        return self._actions.protected is not None

    @property
    def why_read_only(self) -> str:
        """Why they are, in sentences."""
        return str(self._actions.protected or "")

    @property
    def policy(self) -> Policy:
        """What verdicts are made with: the thresholds, and the earlier starts of what is watched."""
        return self._starts.policy

    def now(self) -> float:
        """Epoch seconds on the watched host's clock."""
        return self._clock.now()

    def verdict(self) -> Verdict:
        """Judge the state now."""
        return assess(self._picture.state, self._clock.now(), self.policy)

    def take_lines(self) -> list[bytes]:
        """Return the log lines since the last call."""
        return self._picture.take_lines()

    def open_line(self) -> bytes:
        """Return the bar that is being drawn."""
        return self._logs.open_line()

    async def plan(self, left: Unfinished | None = None) -> StopPlan:
        """Look again at what a stop would touch."""
        return await self._actions.plan(self._reach(), self._picture.state, left)

    def hear(self, heard: Callable[[str], None]) -> None:
        """Call `heard` with every step of an action at once, as it is told."""
        self._actions.heard = heard

    async def stop(self, plan: StopPlan, signal: str = "") -> None:
        """Stop the server as planned."""
        await self._actions.stop(self._reach(), plan, signal)

    async def restart(self, plan: StopPlan, argv: Sequence[str] | None = None) -> None:
        """Stop the server and launch it again, with `argv` as another command line."""
        started = await self._actions.restart(self._reach(), plan, argv)
        self._finder.expect(started, (plan.server.pid, plan.server.start))

    async def launch(self, name: str, command: LaunchCommand) -> Started:
        """Launch a configured target, detached from the connection; raises LaunchFailed with its last words."""
        started = await self._actions.launch(self._reach(), name, command)
        self._finder.expect(started)
        return started

    async def orphans(self) -> tuple[Orphan, ...]:
        """Look for workers that live on without their launcher."""
        return await self._actions.orphans(self._reach())

    async def clear(self, chosen: Sequence[Orphan]) -> None:
        """End the chosen orphans."""
        await self._actions.clear(self._reach(), chosen)

    async def unfinished(self) -> Unfinished | None:
        """Look for what a lost connection left in the middle, and tell it."""
        return await self._actions.look_back(self._reach())

    async def standing(self) -> tuple[tuple[Server, ...], tuple[Unfinished, ...]]:
        """Look at this moment for servers, and for all that is under way or left over, whoever began it."""
        return await self._finder.find(self._reach()), await self._actions.claims(self._reach())

    async def kept(self, left: Unfinished) -> Kept | None:
        """Return the command that a restart that was cut off has kept."""
        return await self._actions.kept(self._reach(), left)

    async def resume(self, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None) -> None:
        """Launch what a restart that was cut off had kept."""
        started = await self._actions.resume(self._reach(), left, plan, argv)
        self._finder.expect(started, left.server)

    async def discard(self, left: Unfinished) -> None:
        """Forget an action that was cut off."""
        await self._actions.discard(self._reach(), left)

    async def diagnose(self) -> Findings:
        """Ask the host what an expert would ask; where it cannot be asked, tell what is known here."""
        try:
            return await examine(self._reach(), self._picture)
        except ConnectionLost as lost:
            return told_here(lost, self._picture)

    def choose(self, server: Server) -> None:
        """Watch another server."""
        self._actions.commands.pick(server, self.state.server)
        self._finder.pick(server)

    @property
    def recorded(self) -> Recorded:
        """Whether what is seen is recorded now."""
        return self.recorder.recorded if self.recorder is not None else ""

    async def record(self) -> str:
        """Begin a recording in the data folder, or end it; return in a sentence what was done. Raises BringupError."""
        if self.recorder is None:
            raise BringupError("Nothing is kept of this host.", "`bringup record HOST -o FILE` records a start.")
        return await self.recorder.toggle()

    # --- the supervisor ---

    async def _enter(self) -> Host:
        """Connect, and learn what kind of machine answers before anything else is read from it."""
        host = await self._connect()
        try:
            seen = await greet(host)
        except BaseException:
            await host.close()
            raise
        self._clock.tell(seen.at)
        self._picture.apply([seen])
        return host

    def _reach(self) -> Host:
        if self._host is None or self._picture.state.link.status != "up":
            what = f"There is no connection to {self._target.name} now."
            raise ConnectionLost(what, "Wait until it is back; nothing was done.")
        return self._host

    async def _supervise(self, host: Host) -> None:
        while True:
            why = await self._watch(host)
            self._tell_link("lost", why)
            await host.close()
            host = await self._reconnect(why)
            self._host = host
            self._tell_link("up")

    async def _watch(self, host: Host) -> str:
        """Run all channels until the connection ends; return why it did."""
        search = asyncio.create_task(self._finder.run(host), name="search")
        closed = asyncio.create_task(host.closed(), name="closed")
        asleep = asyncio.create_task(dead_after_sleep(host), name="asleep")
        try:
            await asyncio.wait((search, closed, asleep), return_when=asyncio.FIRST_COMPLETED)
            for ended in (closed, asleep):
                if ended.done():
                    return ended.result()
            return why_lost(search.exception())
        finally:
            for task in (search, closed, asleep):
                task.cancel()
            await asyncio.gather(search, closed, asleep, return_exceptions=True)

    async def _reconnect(self, why: str) -> Host:
        """Try until the host is back; what only the operator can mend is tried again when they say so."""
        for wait in waits():
            await self.retries.pause(wait)
            self._tell_link("connecting", why)
            try:
                return await self._enter()
            except ASK_OPERATOR as refused:
                why = str(refused)
                self._tell_link("refused", why)
                await self.retries.settle(refused)
            except (Unreachable, ConnectionLost, ChannelRefused) as error:
                why = str(error)
                self._tell_link("lost", why)
        raise AssertionError("waits() never ends")

    def _tell_link(self, status: str, why: str = "") -> None:
        self._picture.apply([LinkChanged(at=self._clock.now(), status=status, why=why)])  # type: ignore[arg-type]
