"""What the operator's keys do to the server: look at what it would touch, stop it, launch it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Literal, cast

from bringup.core.errors import BringupError, ConnectionLost, UsageError
from bringup.core.events import ActionStep
from bringup.core.redact import mask_argv
from bringup.core.state import State
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Stopped, Survey
from bringup.hosts.control.processes import Signal
from bringup.hosts.control.relaunch import Started, capture, discard, examine, relaunch
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture

WORKERS = frozenset({"scheduler", "detokenizer", "controller"})
"""Parts whose titles prove a process to be an engine's."""
Kind = Literal["stop", "restart"]


class Actions:
    """One action at a time; every step of it is told as an event."""

    def __init__(self, name: str, picture: Picture, clock: HostClock, knowledge: Knowledge) -> None:
        self._name = name
        self._picture = picture
        self._clock = clock
        self._knowledge = knowledge

    async def plan(self, host: Host, state: State) -> StopPlan:
        """Look at what a stop would touch now; raises BringupError when there is no server."""
        server = state.server
        if server is None:
            raise BringupError("There is no server to stop.", f"Looked for: {state.seeks or 'a running server'}.")
        known = state.processes if state.gone_at is None else ()
        survey = await control.survey(host, server, known, self._is_engine)
        return StopPlan(
            node=self._name if state.node in ("", self._name) else f"{self._name} ({state.node})",
            server=server,
            command=shlex.join(mask_argv(server.argv)),
            members=survey.members,
            bystanders=survey.bystanders,
            log=", ".join(dict.fromkeys(target.path for target in server.logs)),
            restartable=(await examine(host, server)).restartable,
        )

    async def stop(self, host: Host, plan: StopPlan, signal: str) -> None:
        """Stop the server as planned; raises BringupError when something of it is left."""
        with _Told(self, "stop") as told:
            told.end((await self._stop(host, plan, signal, told.step)).sentence)

    async def restart(self, host: Host, plan: StopPlan) -> Started:
        """Stop the server and launch it again; returns the new process.

        The environment is captured on the host before the stop: afterwards there is nothing to read it from.
        """
        if plan.restartable:
            raise UsageError(plan.restartable)
        with _Told(self, "restart") as told:
            told.step("Keeping command, directory and environment of the server on the host.")
            kept = await capture(host, plan.server)
            try:
                await self._stop(host, plan, "TERM", told.step)
                told.step("Launching the same command again.")
                started = await relaunch(host, kept)
            except BringupError:
                await discard(host, kept)
                raise
            told.end(f"Launched again as PID {started.pid}.")
            return started

    async def _stop(self, host: Host, plan: StopPlan, signal: str, step: Callable[[str], None]) -> Stopped:
        survey = Survey(plan.server, plan.members, plan.bystanders)
        stopped = await control.stop(host, survey, signal=cast(Signal, signal), report=step, is_engine=self._is_engine)
        if not stopped.complete:
            raise BringupError(stopped.sentence, "Nothing was launched.")
        return stopped

    def _is_engine(self, title: str) -> bool:
        found = (engine.titles.classify(title) for engine in self._knowledge.engines)
        return any(known is not None and known[0] in WORKERS for known in found)

    def tell(self, kind: Kind, step: str, *, ended: bool = False, failed: bool = False) -> None:
        """Say how far an action is."""
        event = ActionStep(at=self._clock.now(), action=kind, step=step, ended=ended, failed=failed)
        self._picture.apply([event])


class _Told:
    """Tells the steps of one action, and that it failed where it raises."""

    def __init__(self, actions: Actions, kind: Kind) -> None:
        self._actions = actions
        self._kind = kind

    def step(self, text: str) -> None:
        self._actions.tell(self._kind, text)

    def end(self, text: str) -> None:
        self._actions.tell(self._kind, text, ended=True)

    def __enter__(self) -> _Told:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ConnectionLost):
            text = f"The connection was lost in the middle: {error.what} Look at the host before you do more."
            self._actions.tell(self._kind, text, ended=True, failed=True)
        elif isinstance(error, BringupError):
            self._actions.tell(self._kind, str(error), ended=True, failed=True)
        elif error is not None:
            self._actions.tell(self._kind, f"It was broken off ({type(error).__name__}).", ended=True, failed=True)
