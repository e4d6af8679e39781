"""Looks for the server, chooses one, and keeps its channels running; again and again, since servers come and go."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bringup.core.events import LogTarget, Searching, Server, ServerFound
from bringup.hosts.base import Host
from bringup.hosts.discover import discover, log_target_for
from bringup.session.choice import choose, identity
from bringup.session.server_watch import Channels, ServerWatch
from bringup.session.target import Target

SEARCH_EVERY = 2.0
"""Seconds between looks while there is no server: a start should not be missed by more."""
CHECK_EVERY = 20.0
"""Seconds between looks while one is watched: others may have come."""


class Finder:
    """Owns the watch of the chosen server."""

    def __init__(self, target: Target, channels: Channels) -> None:
        self._target = target
        self._channels = channels
        self._nudge = asyncio.Event()
        self._picked: tuple[int, int] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._watched: Server | None = None

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
        self._watched = None
        async with asyncio.TaskGroup() as group:
            try:
                while True:
                    await self._round(host, group)
                    await self._rest()
            finally:
                self._stop_watch()

    async def _round(self, host: Host, group: asyncio.TaskGroup) -> None:
        found = await discover(
            host,
            self._channels.knowledge.engines,
            pid=self._target.pid,
            port=self._target.port,
            log=self._target.log,
            within=self._target.within,
        )
        now = self._channels.clock.now()
        chosen = choose(found.servers, self._channels.picture.state.server, self._picked)
        if chosen is None:
            self._channels.picture.apply([Searching(at=now, seeks=found.seeks)])
            if self._watch is None and self._target.log is not None:
                target = await log_target_for(host, self._target.log)
                self._watch = group.create_task(self._channels.logs.follow(host, (target,)), name="log")
            return
        others = tuple(server for server in found.servers if server is not chosen)
        self._channels.picture.apply([ServerFound(at=now, server=chosen, others=others)])
        if identity(chosen) != identity(self._watched):
            self._stop_watch()
            self._watched = chosen
            watch = ServerWatch(host, chosen, self._targets(chosen), self._channels, self.look)
            self._watch = group.create_task(watch.run(), name="server")

    def _targets(self, server: Server) -> tuple[LogTarget, ...]:
        if self._target.log is None:
            return server.logs
        return (LogTarget(path=self._target.log, kind="file"),)

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    async def _rest(self) -> None:
        alone = self._channels.picture.state.server is None or self._channels.picture.state.gone_at is not None
        try:
            async with asyncio.timeout(SEARCH_EVERY if alone else CHECK_EVERY):
                await self._nudge.wait()
        except TimeoutError:
            return  # the pause is over
        self._nudge.clear()
