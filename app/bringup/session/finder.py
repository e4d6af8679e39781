"""Looks for the server, chooses one, and keeps its channels running; again and again, since servers come and go."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogTarget, Searching, Server, ServerFound
from bringup.hosts.base import Host
from bringup.hosts.discover import Discovery, discover, log_target_for
from bringup.hosts.prefixed import PrefixedHost
from bringup.session.choice import choose, identity
from bringup.session.search import Search
from bringup.session.server_watch import Channels, ServerWatch
from bringup.session.target import Target

SEARCH_EVERY = 2.0
"""Seconds between looks while there is no server and nothing tells of one, or something may be becoming one."""
CALM_EVERY = 20.0
"""Seconds between looks while there is none, and the stream of candidates would tell of one."""
CHECK_EVERY = 20.0
"""Seconds between looks while one is watched: others may have come."""


class Finder:
    """Owns the watch of the chosen server."""

    def __init__(self, target: Target, channels: Channels) -> None:
        self._target = target
        self._channels = channels
        self._nudge = asyncio.Event()
        self._search = Search(target, channels, self.look)
        self._picked: tuple[int, int] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._watched: tuple[tuple[int, int] | None, tuple[LogTarget, ...]] = (None, ())
        self._log: tuple[LogTarget, ...] = ()
        """The log that the operator named, once it is found."""
        self._trouble = ""
        """Why it is not found, as a sentence."""

    def pick(self, server: Server) -> None:
        """Watch this server from now on."""
        self._picked = identity(server)
        self._nudge.set()

    def expect(self, pid: int) -> None:
        """Look for a server that was just launched, also where the search was narrowed down to the one before it."""
        if self._target.pid is not None:
            self._target = replace(self._target, pid=pid)
        self._nudge.set()

    def look(self) -> None:
        """Look now: something changed."""
        self._nudge.set()

    async def run(self, host: Host) -> None:
        """Search and watch until cancelled; raises ConnectionLost when the connection ends."""
        self._watched = (None, ())
        async with asyncio.TaskGroup() as group:
            try:
                while True:
                    try:
                        await self._round(host, group)
                        self._channels.open("search")
                    except ChannelRefused as refused:
                        self._tell_refused(refused)
                    await self._rest()
            finally:
                self._search.end()
                self._stop_watch()

    async def _round(self, host: Host, group: asyncio.TaskGroup) -> None:
        await self._find_log(host)
        found = await self._discover(host)
        now = self._channels.clock.now()
        chosen = choose(found.servers, self._channels.picture.state.server, self._picked)
        if chosen is None:
            self._channels.picture.apply([Searching(at=now, seeks=found.seeks)])
            if self._watch is None and self._log:
                self._watch = group.create_task(self._channels.logs.follow(host, self._log), name="log")
            self._search.begin(host, group, alone=self._watched[0] is None)
            return
        others = tuple(server for server in found.servers if server is not chosen)
        self._search.end()
        self._channels.picture.apply([ServerFound(at=now, server=chosen, others=others)])
        if self._trouble:
            self._channels.close("log", self._trouble)  # what is known of another server's channels was forgotten
        wanted = (identity(chosen), self._log)
        if wanted != self._watched:
            self._stop_watch()
            self._watched = wanted
            targets = self._log if self._log or self._target.log is not None else chosen.logs
            watch = ServerWatch(host, chosen, targets, self._channels, self.look)
            self._watch = group.create_task(watch.run(), name="server")

    async def _discover(self, host: Host) -> Discovery:
        pid = self._target.pid
        if pid is None and isinstance(host, PrefixedHost):
            pid = await host.main_pid()
            if pid == 0:
                return Discovery((), f"{host.name[:1].upper()}{host.name[1:]} has no process now.")
        return await discover(
            host,
            self._channels.knowledge.engines,
            pid=pid,
            port=self._target.port,
            log=self._log[0].path if self._log else self._target.log,
            within=self._target.within,
        )

    async def _find_log(self, host: Host) -> None:
        """Find the log that the operator named; it may not be there yet, or not be readable yet."""
        if self._target.log is None and isinstance(host, PrefixedHost) and host.way.log:
            self._log = (LogTarget(host.log_name, "stream", f"The log of {host.name}."),)
        if self._target.log is None or self._log:
            return
        try:
            self._log = (await log_target_for(host, self._target.log),)
        except ChannelRefused as refused:
            self._trouble = f"{refused} It is looked for again."
            self._channels.close("log", self._trouble)
        else:
            self._trouble = ""
            self._channels.open("log")

    def _tell_refused(self, refused: ChannelRefused) -> None:
        """Say that a look at the host failed: that ends nothing, the next one may succeed."""
        self._channels.close("search", str(refused))
        if self._is_alone:
            seeks = f"The last search failed and is tried again: {refused}"
            self._channels.picture.apply([Searching(at=self._channels.clock.now(), seeks=seeks)])

    @property
    def _is_alone(self) -> bool:
        """No server is watched that lives."""
        state = self._channels.picture.state
        return state.server is None or state.gone_at is not None

    @property
    def _is_log_known(self) -> bool:
        return self._target.log is None or bool(self._log)

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    async def _rest(self) -> None:
        waiting = self._is_alone or not self._is_log_known
        rest = CALM_EVERY if self._search.is_calm and self._is_log_known else SEARCH_EVERY
        try:
            async with asyncio.timeout(rest if waiting else CHECK_EVERY):
                await self._nudge.wait()
        except TimeoutError:
            return  # the pause is over
        self._nudge.clear()
