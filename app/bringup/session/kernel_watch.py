"""Asks the kernel log while something about the watched server is unexplained: at once, then now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import TYPE_CHECKING

from bringup.core.errors import ChannelRefused
from bringup.core.events import KernelSaid, Server
from bringup.core.kernel import is_unexplained
from bringup.hosts import kernel_log
from bringup.hosts.base import Host

if TYPE_CHECKING:
    from bringup.session.server_watch import Channels

LOOK = 1.0
"""Seconds between two looks at whether there is something to ask."""
AGAIN = 30.0
"""Seconds before the second question about the same thing; each further one waits so much longer than the last."""
LONGEST = 600.0
CALM = 5
"""Looks of which one judges the state, while all was clear and nothing was lost since."""
_KEPT = 4096


class KernelWatch:
    """One server's questions; remembers its processes, for a log line comes after its process has gone."""

    def __init__(self, host: Host, server: Server, channels: Channels, *, sudo: bool = False) -> None:
        self._host = host
        self._channels = channels
        self._sudo = sudo
        self._patterns = kernel_log.load_patterns()
        self._pids: dict[int, None] = {server.pid: None}
        self._about: Hashable = None
        """What was asked about last."""
        self._asked = 0
        """How often."""
        self._clear: Hashable = None
        """What was lost when all was clear."""
        self._passed = 0

    async def run(self) -> None:
        """Watch until cancelled, or until the kernel log cannot be had; raises ConnectionLost."""
        due = 0.0
        while True:
            self._remember()
            about, now = self._unexplained(), asyncio.get_running_loop().time()
            if about is not None and (about != self._about or now >= due):
                self._asked = self._asked + 1 if about == self._about else 1
                self._about = about
                due = now + min(LONGEST, AGAIN * self._asked)
                try:
                    said = await self._ask()
                except ChannelRefused as refused:
                    self._channels.close("kernel", str(refused))
                    return
                self._channels.open("kernel")
                self._channels.picture.apply([said])
            await asyncio.sleep(LOOK)

    async def _ask(self) -> KernelSaid:
        now = self._channels.clock.now()
        return await kernel_log.ask(self._host, tuple(self._pids), self._patterns, at=now, sudo=self._sudo)

    def _remember(self) -> None:
        state = self._channels.picture.state
        for pid in (*(process.pid for process in state.processes), *(rank.pid for rank in state.attempt.ranks)):
            if pid:
                self._pids[pid] = None
        while len(self._pids) > _KEPT:
            del self._pids[next(iter(self._pids))]

    def _unexplained(self) -> Hashable:
        """What is unexplained now, so that something new is asked about at once; None where all is clear."""
        channels = self._channels
        state = channels.picture.state
        ranks = tuple(rank.rank for rank in state.attempt.ranks if rank.gone_at is not None)
        lost = (state.attempt.number, ranks, state.gone_at is not None)
        if lost == self._clear and self._passed < CALM - 1:
            self._passed += 1
            return None
        verdict = channels.verdict()
        if not is_unexplained(state, verdict):
            self._clear, self._passed = lost, 0
            return None
        self._clear = None
        return verdict.state, lost
