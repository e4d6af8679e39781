"""Which of a server's processes still run, as a stop asks again and again; a look that takes too long is no answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bringup.core.events import Process
from bringup.hosts.base import Host
from bringup.hosts.control import processes
from bringup.hosts.control.family import proven
from bringup.hosts.control.in_time import in_time
from bringup.hosts.control.steps import Report, Step, still_run
from bringup.hosts.control.surveying import Survey, look

GROWTH = 4
"""Of so many looks one is for what the server's processes have started: on a large host that costs half a second."""


class Members:
    """The processes of a server that is being stopped, with those that they have started since."""

    def __init__(self, host: Host, plan: Survey, is_engine: Callable[[str], bool], say: Report) -> None:
        self._host = host
        self._plan = plan
        self._is_engine = is_engine
        self._say = say
        self._looks = 0
        self._left = plan.members
        self.known = {(each.pid, each.start): each for each in plan.members}
        self.planned = frozenset(self.known)
        self.unseen = ""
        """Why the last look gave no answer, as a sentence: what is left is what was seen before; "" where it did."""

    @property
    def pids(self) -> set[int]:
        """All that are known, also those that have ended."""
        return {pid for pid, _ in self.known}

    async def left(self) -> tuple[Process, ...]:
        """Return which of them still run, also of those that they have started since."""
        return await self._answer(self._known_ones())

    async def fresh(self) -> tuple[Process, ...]:
        """Look at the whole tree again: what was started since is the server's too."""
        return await self._answer(self._whole_tree())

    async def _answer(self, asked: Awaitable[tuple[Process, ...]]) -> tuple[Process, ...]:
        self._left, self.unseen = await in_time(asked, self._left)
        if self.unseen:
            self._say(Step(f"{self.unseen} When last seen, {still_run(self._left)}; it is looked again."))
        return self._left

    async def _known_ones(self) -> tuple[Process, ...]:
        everything = self._looks % GROWTH == 0
        self._looks += 1
        seen = await processes.list_processes(self._host, () if everything else sorted(self.pids))
        rows = {pid: row for pid, row in seen.items() if not row.ended}
        running = {(row.pid, row.start): row for row in rows.values()}
        ours = {(pid, rows[pid].start) for pid in proven(rows, self._plan.server, self.known, self._plan.apart)}
        fresh = await processes.describe(self._host, (running[each] for each in ours - self.known.keys()))
        self.known |= {(each.pid, each.start): each for each in fresh}
        for identity in self.known.keys() & running.keys():
            self.known[identity] = replace(self.known[identity], state=running[identity].state)
        return tuple(each for identity, each in self.known.items() if identity in running)

    async def _whole_tree(self) -> tuple[Process, ...]:
        known, apart = tuple(self.known.values()), self._plan.apart
        members, _, _ = await look(self._host, self._plan.server, known, self._is_engine, apart=apart)
        self.known |= {(each.pid, each.start): each for each in members}
        return members
