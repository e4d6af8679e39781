"""A console that plays scripted situations: states folded from events as the real session does, at a frozen moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bringup.core.assess import assess
from bringup.core.errors import BringupError
from bringup.core.events import Process, Server
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.engines.patience import load_policy
from bringup.session.console import StopPlan


class FakeConsole:
    """Everything a screen may ask of a session, as plain attributes."""

    def __init__(self, state: State, now: float, lines: list[bytes] | None = None, tail: bytes = b"") -> None:
        self.rev = 1
        self._state = state
        self.moment = now
        self.lines = lines or []
        self.tail = tail
        self.read_only = False
        self.policy = load_policy()
        self.calls: list[tuple[str, object]] = []
        self.refusal: BringupError | None = None
        self.bystanders: tuple[Process, ...] = ()
        self.restartable = ""
        self.verdicts = 0

    @property
    def state(self) -> State:
        return self._state

    def now(self) -> float:
        return self.moment

    def verdict(self) -> Verdict:
        self.verdicts += 1
        return assess(self._state, self.moment, self.policy)

    def take_lines(self) -> list[bytes]:
        lines, self.lines = self.lines, []
        return lines

    def open_line(self) -> bytes:
        return self.tail

    async def plan(self) -> StopPlan:
        if self.refusal is not None:
            raise self.refusal
        assert self._state.server is not None
        command = " ".join(self._state.server.argv)
        return StopPlan(
            node=self._state.node,
            server=self._state.server,
            command=command,
            members=self._state.processes,
            bystanders=self.bystanders,
            log=self._state.log.path,
            restartable=self.restartable,
        )

    async def stop(self, plan: StopPlan, signal: str = "TERM") -> None:
        self.calls.append(("stop", signal))

    async def restart(self, plan: StopPlan) -> None:
        self.calls.append(("restart", plan.server.pid))

    def choose(self, server: Server) -> None:
        self.calls.append(("choose", server.pid))

    # --- the script ---

    def change(self, state: State) -> None:
        """Let the session know more."""
        self._state = state
        self.rev += 1

    def write(self, *lines: bytes) -> None:
        """Let the log grow."""
        self.lines.extend(lines)
        self.rev += 1

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.moment += seconds

    def remember(self, history: Mapping[str, tuple[float, ...]]) -> FakeConsole:
        """Know earlier starts."""
        self.policy = replace(self.policy, history=dict(history))
        return self
