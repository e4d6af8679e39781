"""Looks for the server, chooses one, and keeps its channels running; again and again, since servers come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from bringup.core.errors import ChannelRefused
from bringup.core.events import LogBegan, LogTarget, Searching, Server, ServerFound
from bringup.hosts.base import Host
from bringup.hosts.control import Started
from bringup.hosts.discover import Discovery, discover, log_target_for
from bringup.hosts.prefixed import PrefixedHost
from bringup.session.choice import choose, identity
from bringup.session.launched import stand_in, with_known_logs
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

    def __init__(
        self, target: Target, channels: Channels, ended: Callable[[], frozenset[tuple[int, int]]] = frozenset
    ) -> None:
        self._target = target
        self._ended = ended
        """What was ended as a part of a server, by PID and start time: it is no server of its own."""
        self._channels = channels
        self._nudge = asyncio.Event()
        self._search = Search(target, channels, self.look)
        self._picked: tuple[int, int] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._watched: tuple[tuple[int, int] | None, tuple[LogTarget, ...]] = (None, ())
        self._launched: Server | None = None
        """What was launched from here, until discovery finds it, or the server that comes of it."""
        self._log: tuple[LogTarget, ...] = ()
        """The log that the operator named, once it is found."""
        self._trouble = ""
        """Why it is not found, as a sentence."""

    def pick(self, server: Server) -> None:
        """Watch this server from now on."""
        self._picked, self._launched = identity(server), None
        self._nudge.set()

    def expect(self, started: Started, old: tuple[int, int] | None = None) -> None:
        """Watch a server that was just launched in the place of an `old` one, also where it is never found any more.

        A search that was narrowed down to the one before it looks for this one. PID 0 stands for one that is not known:
        somebody else launches it. Another one that is watched and lives stays watched.
        """
        channels, now = self._channels, self._channels.clock.now()
        state = channels.picture.state
        if started.pid and self._target.pid is not None:
            self._target = replace(self._target, pid=started.pid)
        if started.pid and (self._is_alone or identity(state.server) == old):
            self._launched = stand_in(started, state.server, old, now)
            channels.logs.beginnings.launched(started.begins)
            channels.picture.apply([ServerFound(at=now, server=self._launched, others=state.others)])
            if started.begins:
                channels.picture.apply([LogBegan(at=now)])
        self._nudge.set()

    def look(self) -> None:
        """Look now: something changed."""
        self._nudge.set()

    async def find(self, host: Host) -> tuple[Server, ...]:
        """Return the servers that run at this moment, the watched one or not; raises ChannelRefused, ConnectionLost."""
        return (await self._discover(host)).servers

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
        if self._is_launching:
            return
        await self._find_log(host)
        if self._launched is not None and identity(self._launched) != self._watched[0] and not self._is_alone:
            self._begin_watch(host, group, self._launched)
        found = await self._discover(host)
        found = replace(found, servers=tuple(each for each in found.servers if identity(each) not in self._ended()))
        if self._is_launching:
            return
        chosen = self._choose(found)
        if chosen is None:
            now = self._channels.clock.now()
            self._channels.picture.apply([Searching(at=now, seeks=found.seeks)])
            if self._watch is None and self._log:
                self._watch = group.create_task(self._channels.logs.follow(host, self._log), name="log")
            self._search.begin(host, group, alone=self._watched[0] is None)
            return
        others = tuple(server for server in found.servers if server is not chosen)
        self._search.end()
        self._take(host, group, chosen, others)

    def _choose(self, found: Discovery) -> Server | None:
        launched = self._stand_in
        if launched is None:
            return choose(found.servers, self._channels.picture.state.server, self._picked)
        # The server may be what it has started, within the same tick of the kernel's clock.
        return choose(found.servers, replace(launched, start=launched.start - 1), identity(launched))

    def _take(self, host: Host, group: asyncio.TaskGroup, chosen: Server, others: tuple[Server, ...]) -> None:
        launched, now = self._stand_in, self._channels.clock.now()
        chosen = with_known_logs(chosen, self._channels.picture.state.server)
        self._launched = None
        found = ServerFound(at=now, server=chosen, others=others, instead=launched is not None)
        self._channels.picture.apply([found])
        if self._trouble:
            self._channels.close("log", self._trouble)  # what is known of another server's channels was forgotten
        elsewhere = launched is not None and _paths(launched) != _paths(chosen) and not self._log
        if elsewhere or (identity(chosen), self._log) != self._watched:
            self._begin_watch(host, group, chosen)

    def _begin_watch(self, host: Host, group: asyncio.TaskGroup, server: Server) -> None:
        self._stop_watch()
        self._watched = (identity(server), self._log)
        targets = self._log if self._log or self._target.log is not None else server.logs
        watch = ServerWatch(host, server, targets, self._channels, self.look)
        self._watch = group.create_task(watch.run(), name="server")

    async def _discover(self, host: Host) -> Discovery:
        pid, main = self._target.pid, False
        if pid is None and isinstance(host, PrefixedHost):
            pid, main = await host.main_pid(), True
            if pid == 0:
                return Discovery((), f"{host.name[:1].upper()}{host.name[1:]} has no process now.")
        return await discover(
            host,
            self._channels.knowledge.engines,
            pid=pid,
            port=self._target.port,
            log=self._log[0].path if self._log else self._target.log,
            within=self._target.within,
            main=main,
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
    def _stand_in(self) -> Server | None:
        """What is watched because it was launched from here, while it lives and was not found yet."""
        known = self._channels.picture.state.server
        is_watched = identity(self._launched) == identity(known) and not self._is_alone
        return self._launched if is_watched else None

    @property
    def _is_launching(self) -> bool:
        """A server is being launched from here: it is watched once that is done."""
        action = self._channels.picture.state.action
        return action is not None and action.launches

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
        waiting = self._is_alone or self._launched is not None or not self._is_log_known
        rest = CALM_EVERY if self._search.is_calm and self._is_log_known else SEARCH_EVERY
        try:
            async with asyncio.timeout(rest if waiting else CHECK_EVERY):
                await self._nudge.wait()
        except TimeoutError:
            return  # the pause is over
        self._nudge.clear()


def _paths(server: Server) -> list[str]:
    return [target.path for target in server.logs]
