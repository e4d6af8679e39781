"""A console that plays scripted situations: states folded from events as the real session does, at a frozen moment."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bringup.core.assess import assess
from bringup.core.errors import BringupError
from bringup.core.events import Process, Server
from bringup.core.policy import PastPhase, PastStart
from bringup.core.redact import mask_argv
from bringup.core.state import State
from bringup.core.verdict import Verdict
from bringup.engines.patience import load_policy
from bringup.session.console import Findings, Kept, Orphan, Recorded, Section, StopPlan, Unfinished


class FakeConsole:
    """Everything a screen may ask of a session, as plain attributes."""

    def __init__(self, state: State, now: float, lines: list[bytes] | None = None, tail: bytes = b"") -> None:
        self.rev = 1
        self._state = state
        self.moment = now
        self.lines = lines or []
        self.tail = tail
        self.why_read_only = ""
        self.policy = load_policy()
        self.calls: list[tuple[str, object]] = []
        self.refusal: BringupError | None = None
        """Why there can be no plan."""
        self.failing: BringupError | None = None
        """What every order ends with."""
        self.bystanders: tuple[Process, ...] = ()
        self.restartable = ""
        self.planned: dict[str, object] = {}
        """Fields of the plan that a scene sets itself."""
        self.orphaned: tuple[Orphan, ...] = ()
        self.left: Unfinished | None = None
        self.keeps: Kept | None = None
        self.sections = (Section("nvidia-smi", "all well"),)
        self.order: asyncio.Event | None = None
        """An order that was given ends only when this is set."""
        self.recorded: Recorded = ""
        self.verdicts = 0
        self.judged: dict[str, object] = {}
        """Fields of the verdict that a scene sets itself."""

    @property
    def state(self) -> State:
        return self._state

    @property
    def read_only(self) -> bool:
        return bool(self.why_read_only)

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self.why_read_only = "Read-only." if value else ""

    def now(self) -> float:
        return self.moment

    def verdict(self) -> Verdict:
        self.verdicts += 1
        return replace(assess(self._state, self.moment, self.policy), **self.judged)  # type: ignore[arg-type]

    def take_lines(self) -> list[bytes]:
        lines, self.lines = self.lines, []
        return lines

    def open_line(self) -> bytes:
        return self.tail

    async def plan(self, left: Unfinished | None = None) -> StopPlan:
        if self.refusal is not None:
            raise self.refusal
        if left is not None:
            parts = tuple(Process(pid=pid, ppid=1, start=start, title="python3") for pid, start in left.alive)
            return StopPlan(self._state.node, Server(*left.server, engine="sglang", argv=()), "", parts)
        assert self._state.server is not None
        plan = StopPlan(
            node=self._state.node,
            server=self._state.server,
            command=" ".join(mask_argv(self._state.server.argv)),
            members=self._state.processes,
            bystanders=self.bystanders,
            log=self._state.log.path,
            restartable=self.restartable,
            argv=mask_argv(self._state.server.argv),
        )
        return replace(plan, **self.planned)  # type: ignore[arg-type]

    async def stop(self, plan: StopPlan, signal: str = "") -> None:
        await self._do("stop", signal)

    async def restart(self, plan: StopPlan, argv: Sequence[str] | None = None) -> None:
        await self._do("restart", plan.server.pid if argv is None else tuple(argv))

    async def orphans(self) -> tuple[Orphan, ...]:
        return self.orphaned

    async def clear(self, chosen: Sequence[Orphan]) -> None:
        await self._do("clear", tuple(orphan.process.pid for orphan in chosen))

    async def unfinished(self) -> Unfinished | None:
        return self.left

    async def kept(self, left: Unfinished) -> Kept | None:
        return self.keeps

    async def resume(self, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None) -> None:
        await self._do("resume", left.server if argv is None else tuple(argv))

    async def discard(self, left: Unfinished) -> None:
        await self._do("discard", left.server)
        self.left = None

    async def diagnose(self) -> Findings:
        await self._do("diagnose", None)
        return Findings(self.sections, (b"the last line",))

    async def record(self) -> str:
        await self._do("record", None)
        return "Recording to /data/a.bringup."

    def choose(self, server: Server) -> None:
        self.calls.append(("choose", server.pid))

    async def _do(self, name: str, what: object) -> None:
        self.calls.append((name, what))
        if self.order is not None:
            await self.order.wait()
        if self.failing is not None:
            raise self.failing

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

    def judge(self, **fields: object) -> FakeConsole:
        """Let the verdict say this, whatever the rules say."""
        self.judged.update(fields)
        return self

    def remember(self, history: Mapping[str, tuple[float, ...]]) -> FakeConsole:
        """Know earlier starts."""
        self.policy = replace(self.policy, history=dict(history), earlier=_in_a_row(history))
        return self


def _in_a_row(history: Mapping[str, tuple[float, ...]]) -> tuple[PastStart, ...]:
    """The earlier starts of a history, each phase after the other."""
    starts = []
    for number in range(max((len(took) for took in history.values()), default=0)):
        phases: list[PastPhase] = []
        for key, took in history.items():
            phases.append(PastPhase(key, phases[-1].ended if phases else 0.0, took[min(number, len(took) - 1)]))
        starts.append(PastStart(tuple(phases), phases[-1].ended))
    return tuple(starts)
