"""Several watched hosts as one start: a session a node, one verdict; the log and the GPUs are of the node shown."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from bringup.core.events import Server
from bringup.core.fleet import Part, join
from bringup.core.policy import Policy
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.session.console import Findings, Kept, Orphan, Recorded, StopPlan, Unfinished
from bringup.session.diagnosing import together
from bringup.session.retries import Retries
from bringup.session.session import Session
from bringup.session.whole_log import WholeLog

KEPT_LINES = 40_000
"""Lines of each node that are kept for when it is shown again."""


class Fleet:
    """Implements `session.console.Console` and `Several` over the sessions of all nodes, the head node first."""

    def __init__(self, sessions: Sequence[tuple[str, Session]]) -> None:
        self._sessions = tuple(sessions)
        self._shown = 0
        self._turns = 0
        self._kept: tuple[deque[bytes], ...] = tuple(deque(maxlen=KEPT_LINES) for _ in sessions)
        self._pending: list[bytes] = []

    async def open(self) -> None:
        """Connect to every node, one after the other: a question to the operator is of one host.

        Raises Unreachable or UsageError when there is no way to one of them; those that stood are closed.
        """
        try:
            for _, session in self._sessions:
                await session.open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End all connections; no server is touched."""
        await asyncio.gather(*(session.close() for _, session in self._sessions))

    async def wait(self) -> None:
        """Raise a BringupError when the watch of a node ends by itself."""
        tasks = [asyncio.create_task(session.wait(), name=f"watch {node}") for node, session in self._sessions]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # --- which node is shown ---

    @property
    def sessions(self) -> tuple[tuple[str, Session], ...]:
        """The nodes with their sessions."""
        return self._sessions

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes as the operator named them."""
        return tuple(node for node, _ in self._sessions)

    @property
    def node(self) -> str:
        """The node whose log and GPUs are shown, and that actions are about."""
        return self._sessions[self._shown][0]

    def show(self, node: str) -> None:
        """Show another node: its lines are handed out again from the oldest that is kept."""
        self._collect()
        self._shown = self.nodes.index(node)
        self._pending = list(self._kept[self._shown])
        self._turns += 1

    # --- what a screen asks ---

    @property
    def rev(self) -> int:
        """Grows with every change of a state or log."""
        return self._turns + sum(session.rev for _, session in self._sessions)

    @property
    def retries(self) -> Retries:
        """Those of the first node that is not connected."""
        away = (session for _, session in self._sessions if session.state.link.status != "up")
        return next(away, self._here).retries

    @property
    def whole_log(self) -> WholeLog:
        """The log of the node that is shown, as a file on it."""
        return self._here.whole_log

    @property
    def state(self) -> State:
        """The newest state of the node that is shown."""
        return self._here.state

    @property
    def is_level(self) -> bool:
        """All that the logs of all nodes held has been read."""
        return all(session.is_level for _, session in self._sessions)

    @property
    def read_only(self) -> bool:
        """Actions are turned off."""
        return any(session.read_only for _, session in self._sessions)

    @property
    def why_read_only(self) -> str:
        """Why they are, on the first node where they are."""
        return next((session.why_read_only for _, session in self._sessions if session.read_only), "")

    @property
    def policy(self) -> Policy:
        """What the verdict about the node that is shown is made with."""
        return self._here.policy

    def now(self) -> float:
        """Epoch seconds on the clock of the node that is shown."""
        return self._here.now()

    def parts(self) -> tuple[Part, ...]:
        """Return the nodes, each judged by itself now."""
        return tuple(Part(node, session.state, session.verdict()) for node, session in self._sessions)

    def verdict(self) -> Verdict:
        """Judge all nodes now, as one start."""
        return join(self.parts(), self.now(), self.policy)

    def take_lines(self) -> list[bytes]:
        """Return the lines of the node that is shown since the last call."""
        self._collect()
        lines, self._pending = self._pending, []
        return lines

    def open_line(self) -> bytes:
        """Return the bar that is being drawn there."""
        return self._here.open_line()

    async def plan(self, left: Unfinished | None = None) -> StopPlan:
        """Look again at what a stop of the server on that node would touch."""
        return await self._here.plan(left)

    async def stop(self, plan: StopPlan, signal: str = "") -> None:
        """Stop the server on that node as planned."""
        await self._here.stop(plan, signal)

    async def restart(self, plan: StopPlan, argv: Sequence[str] | None = None) -> None:
        """Stop the server on that node and launch it again."""
        await self._here.restart(plan, argv)

    async def orphans(self) -> tuple[Orphan, ...]:
        """Look there for workers that live on without their launcher."""
        return await self._here.orphans()

    async def clear(self, chosen: Sequence[Orphan]) -> None:
        """End the chosen orphans there."""
        await self._here.clear(chosen)

    async def unfinished(self) -> Unfinished | None:
        """Look there for what a lost connection left in the middle."""
        return await self._here.unfinished()

    async def kept(self, left: Unfinished) -> Kept | None:
        """Return the command that a restart there has kept."""
        return await self._here.kept(left)

    async def resume(self, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None) -> None:
        """Launch there what a restart that was cut off had kept."""
        await self._here.resume(left, plan, argv)

    async def discard(self, left: Unfinished) -> None:
        """Forget there an action that was cut off."""
        await self._here.discard(left)

    async def diagnose(self) -> Findings:
        """Ask every node what an expert would ask, that node first; what hangs on one is often waited for on others."""
        here = self._sessions[self._shown]
        order = [here, *(each for each in self._sessions if each is not here)]
        found = await asyncio.gather(*(session.diagnose() for _, session in order))
        return together([(node, each) for (node, _), each in zip(order, found, strict=True)])

    @property
    def recorded(self) -> Recorded:
        """Whether something is recorded now of the nodes; what was asked for counts more."""
        found = {session.recorded for _, session in self._sessions}
        return "asked" if "asked" in found else "by-itself" if "by-itself" in found else ""

    async def record(self) -> str:
        """Begin or end a recording of every node; return in sentences where they are."""
        return " ".join([f"{node}: {await session.record()}" for node, session in self._sessions])

    def choose(self, server: Server) -> None:
        """Watch another server of that node."""
        self._here.choose(server)

    @property
    def _here(self) -> Session:
        return self._sessions[self._shown][1]

    def _collect(self) -> None:
        for index, (_, session) in enumerate(self._sessions):
            lines = session.take_lines()
            self._kept[index].extend(lines)
            if index == self._shown:
                self._pending += lines
