"""What the operator's keys do to the server: look at what it would touch, stop it, launch it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, UsageError
from bringup.core.events import ActionStep, ChannelClosed, Fault, ServerGone
from bringup.core.redact import mask_argv
from bringup.core.state import State
from bringup.history.actions import ActionRow
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Busy, LaunchCommand, Orphan, Started, Step, Unfinished
from bringup.hosts.control.editing import unmask
from bringup.session.acting import KINDS, about, doing, kind_of, launched, make_plan, survey_of, way_of, who
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.deeds import About, Deed, Kind, Ledger, Write
from bringup.session.knowledge import Knowledge
from bringup.session.left_over import choose, condition, ending, has_failed, is_over, last_said
from bringup.session.picture import Picture
from bringup.session.target import Drains

WORKERS = frozenset({"scheduler", "detokenizer", "controller"})
"""Parts whose titles prove a process to be an engine's."""


class Actions:
    """One action at a time; every step of it is told as an event, and `write` writes down its begin and its end.

    With `read_only` nothing is done to a server: every action raises UsageError.
    """

    def __init__(
        self,
        name: str,
        picture: Picture,
        clock: HostClock,
        knowledge: Knowledge,
        *,
        stop_command: str = "",
        launch: LaunchCommand | None = None,
        drains: Drains | None = None,
        within: int | None = None,
        narrowed: tuple[int | None, int | None] = (None, None),
        read_only: bool = False,
        write: Write | None = None,
    ) -> None:
        self._name = name
        self._picture = picture
        self._clock = clock
        self._knowledge = knowledge
        self._stop_command = stop_command
        self._launch = launch
        self._drains = drains or Drains()
        self._within = within
        self._narrowed = narrowed
        """The port and the PID that the watch is narrowed to: what was left of others is not ours to tell of then."""
        self._read_only = read_only
        self.ledger = Ledger(write, self._complain)
        """Where actions are written down."""
        self._token = control.new_token()
        """By it this console knows the actions again that it began before a lost connection."""
        self._doing = False
        self._cut: ActionRow | None = None
        """The last action, where it ended with its connection and nobody knows yet what became of it."""
        self._told: Unfinished | None = None
        """What was told last of an action of ours that was cut off."""
        self._learned: tuple[int, int] | None = None
        """The server that was launched by an action that failed, once that was judged by."""
        self.heard: Callable[[str], None] | None = None
        """Called with every step at once, as it is told."""

    async def plan(self, host: Host, state: State) -> StopPlan:
        """Look at what a stop would touch now; raises BringupError when there is no server."""
        if state.server is None:
            raise BringupError("There is no server to stop.", f"Looked for: {state.seeks or 'a running server'}.")
        server = control.with_stop_command(state.server, self._stop_command)
        known = state.processes if state.gone_at is None else ()
        survey = await control.survey(host, server, known, self._is_engine)
        found = await control.examine(host, server)
        node = self._name if state.node in ("", self._name) else f"{self._name} ({state.node})"
        return make_plan(node, survey, found, self._launch, self._drains)

    async def stop(self, host: Host, plan: StopPlan, signal: str = "") -> None:
        """Stop the server as planned; raises BringupError when something of it is left, Busy while another one acts."""
        with self._deed("stop", about(plan, "stop", signal or plan.ways[0])) as told:
            claimed = await control.claim(host, plan.server, "stop", token=self._token, who=who())
            way, pace = way_of(plan, signal)
            try:
                stopped = await control.stop(
                    host,
                    survey_of(plan),
                    signal=way,
                    report=told.step,
                    pace=pace,
                    is_engine=self._is_engine,
                    claimed=claimed,
                )
            except ConnectionLost:
                raise
            except BringupError:
                await control.release(host, claimed)
                raise
            await control.release(host, claimed)
            if not stopped.complete:
                raise BringupError(stopped.sentence)
            told.end(stopped.sentence)

    async def restart(self, host: Host, plan: StopPlan, argv: Sequence[str] | None = None) -> Started:
        """Stop the server and launch it again, with `argv` as another command; returns the new process.

        Secrets that are masked in `argv` as in the plan's keep their values. What a launch needs is kept on the host
        before the stop: afterwards there is nothing to read it from.
        """
        if plan.restartable:
            raise UsageError(plan.restartable)
        words = None if argv is None else unmask(plan.server.argv, argv)
        control.check_edit(plan.server, words)
        row = about(plan, "restart", command="" if words is None else shlex.join(mask_argv(words)))
        with self._deed("restart", row) as told:
            claimed = await control.claim(host, plan.server, "restart", token=self._token, who=who())
            started = await control.restart(
                host,
                survey_of(plan),
                claimed,
                report=told.step,
                argv=words,
                command=self._launch if words is None else None,
                pace=way_of(plan, "")[1],
                is_engine=self._is_engine,
                regardless=plan.regardless,
            )
            told.end(launched(started), started.pid)
            return started

    async def launch(self, host: Host, name: str, command: LaunchCommand) -> Started:
        """Launch a configured target, detached from the connection."""
        with self._deed("launch", doing("launch", command.command)) as told:
            told.step(Step(f"Launching {name}.", name="launching"))
            started = await control.launch(host, name, command, token=self._token, who=who())
            told.end(f"Launched as PID {started.pid}.", started.pid)
            return started

    async def unfinished(self, host: Host) -> Unfinished | None:
        """Return what a lost connection, or another console that ended, left in the middle: what is ours first.

        A session that is confined to a process tree hears of its own actions only.
        """
        found = await control.all_unfinished(host, token=self._token)
        state, confined = self._picture.state, self._within is not None
        return choose(found, state, token=self._token, narrowed=self._narrowed, confined=confined)

    async def look_back(self, host: Host) -> Unfinished | None:
        """Return what became of an action that was cut off, and tell it, and every change of it, where it was ours."""
        if self._doing:
            return None
        try:
            left = await self.unfinished(host)
        except ChannelRefused:
            # A host where nothing can be written down has nothing left over either.
            left = None
        if left is not None:
            self._learn(left)
        if self._cut is not None or self._told is not None:
            self._tell_what_became(left if left is not None and self._is_ours(left) else None)
        return left

    def _learn(self, left: Unfinished) -> None:
        """Judge by it where no process tells anything: a log alone looks as if the server that has ended still came."""
        state = self._picture.state
        if left.new is None or left.new == self._learned or state.server is not None or not has_failed(left):
            return
        self._learned = left.new
        at = self._clock.now() - left.age
        self._picture.apply([ServerGone(at=at, pid=left.new[0]), Fault(at=at, kind="unknown", text=last_said(left))])

    def _tell_what_became(self, left: Unfinished | None) -> None:
        cut, before = self._cut, self._told
        self._cut, self._told = None, condition(left) if left is not None else None
        if left is None:
            if cut is not None:
                said = f"Nothing of the {cut.action} is left over on the host: it was not begun, or it is done."
                self.ledger.note(replace(cut, said=said))
                self.tell(KINDS.get(cut.action, "stop"), said, ended=True)
        elif self._told != before:
            said = ending(left) if is_over(left) else left.sentence
            if cut is not None:
                self.ledger.note(replace(cut, said=said))
            self.tell(kind_of(left), said, ended=True, failed=not is_over(left))

    async def resume(
        self, host: Host, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None
    ) -> Started:
        """Launch what a restart that was cut off had kept, with `argv` as another command than that of the plan."""
        words = unmask(plan.server.argv, argv) if plan is not None and argv is not None else None
        command = "" if words is None else shlex.join(mask_argv(words))
        with self._deed("restart", doing("resume", command or left.about)) as told:
            started = await control.resume(host, left, report=told.step, argv=words)
            told.end(launched(started), started.pid)
            return started

    async def discard(self, host: Host, left: Unfinished) -> None:
        """Forget an action that was cut off, or one that is over, with all that was kept of it."""
        over = is_over(left)
        given_up = ending(left) if over else f"The {left.action} is given up; what was kept of it is removed."
        row = doing("discard", left.about, (left.server[0],))
        with self._deed(kind_of(left), row, quiet=True) as told:
            await control.discard(host, left)
            told.end(given_up)
        if self._is_ours(left) and not over:
            self.tell(kind_of(left), given_up, ended=True)

    async def orphans(self, host: Host) -> tuple[Orphan, ...]:
        """Return the workers that live on without their launcher."""
        return await control.orphans(host, self._knowledge.engines, within=self._within)

    async def clear(self, host: Host, chosen: Sequence[Orphan]) -> None:
        """End the chosen orphans; raises BringupError when one of them is left."""
        row = doing("clear", pids=tuple(orphan.process.pid for orphan in chosen))
        with self._deed("clear", row) as told:
            engines = self._knowledge.engines
            cleared = await control.clear(host, chosen, engines, told.step, within=self._within)
            if not cleared.complete:
                raise BringupError(cleared.sentence)
            told.end(cleared.sentence)

    def begin(self) -> None:
        """Let one action at a time through; raises Busy while another one of this console is under way."""
        if self._doing:
            raise Busy(f"An action on {self._name} is under way already.", "Nothing was done; wait for its end.")
        self._doing = True

    def finish(self, cut: ActionRow | None = None) -> None:
        """Let the next action through; `cut` is one that has ended with its connection."""
        self._doing, self._cut = False, cut

    def _deed(self, kind: Kind, row: About, *, quiet: bool = False) -> Deed:
        """Return an action that may begin; raises UsageError where nothing may be done."""
        if self._read_only:
            what = f"{self._name} is watched read-only: nothing is done to a server there."
            raise UsageError(what, "Leave --read-only out, or take `read-only` away from the target, to allow it.")
        node = self._picture.state.node
        return Deed(self, kind, row, (self._name, node), quiet=quiet)

    def _complain(self, sentence: str) -> None:
        self._picture.apply([ChannelClosed(at=self._clock.now(), channel="actions", why=sentence)])

    def _is_ours(self, left: Unfinished) -> bool:
        return left.claim.token == self._token

    def _is_engine(self, title: str) -> bool:
        found = (engine.titles.classify(title) for engine in self._knowledge.engines)
        return any(known is not None and known[0] in WORKERS for known in found)

    def tell(
        self, kind: Kind, step: str, *, ended: bool = False, failed: bool = False, left: float | None = None
    ) -> None:
        """Say how far an action is; `left` seconds until its next step."""
        now = self._clock.now()
        if self.heard is not None and not ended:
            self.heard(step)
        self._picture.apply([ActionStep(at=now, action=kind, step=step, ended=ended, failed=failed, left=left)])
