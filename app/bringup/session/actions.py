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
from bringup.hosts.control.processes import Identity
from bringup.session.acting import KINDS, about, doing, kind_of, launched, make_kept, survey_of, way_of, who
from bringup.session.clock import HostClock
from bringup.session.console import Kept, StopPlan
from bringup.session.deeds import About, Deed, Kind, Ledger, Write
from bringup.session.elsewhere import told_afterwards, told_elsewhere
from bringup.session.knowledge import Knowledge
from bringup.session.left_over import choose, condition, ending, has_failed, is_over, last_said, parting
from bringup.session.picture import Picture
from bringup.session.planning import OwnCommands, plan_server
from bringup.session.protection import protection_of
from bringup.session.still_running import plan_rest
from bringup.session.stopped_parts import parts_of, settle
from bringup.session.target import Target


class Actions:
    """One action at a time; every step of it is told as an event, and `write` writes down its begin and its end.

    Nothing is done to a server that is protected: every action on it raises UsageError.
    """

    def __init__(
        self, target: Target, picture: Picture, clock: HostClock, knowledge: Knowledge, *, write: Write | None = None
    ) -> None:
        self._name = target.name
        self._picture = picture
        self._clock = clock
        self._knowledge = knowledge
        self._target = target
        self.commands = OwnCommands(target)
        """Told of it when the operator chooses another server."""
        self._narrowed = (target.port, target.pid)
        """What was left of other ports and PIDs is not ours to tell of."""
        self._protection = protection_of(target)
        self.ledger = Ledger(write, self._complain)
        """Where actions are written down."""
        self._token = control.new_token()
        """By it this console knows the actions again that it began before a lost connection."""
        self.ended: frozenset[Identity] = frozenset()
        """What was, or is to be, ended as a part of a server: none of it becomes a server of its own."""
        self._doing = False
        self._cut: ActionRow | None = None
        """The last action, where it ended with its connection and nobody knows yet what became of it."""
        self._told: Unfinished | None = None
        """What was told last of an action of ours that was cut off."""
        self._learned: tuple[int, int] | None = None
        """The server that was launched by an action that failed, once that was judged by."""
        self.heard: Callable[[str], None] | None = None
        """Called with every step at once, as it is told."""

    async def plan(self, host: Host, state: State, left: Unfinished | None = None) -> StopPlan:
        """Look at what a stop would touch now, of the rest that was `left` or of the server; raises BringupError."""
        node = self._name if state.node in ("", self._name) else f"{self._name} ({state.node})"
        if left is not None:
            return await plan_rest(host, node, left, self._target.drains, self._knowledge.is_engine)
        if state.server is None:
            raise BringupError("There is no server to stop.", state.seeks or "Nobody has looked for one yet.")
        known = state.processes if state.gone_at is None else ()
        return await plan_server(host, node, state.server, known, self.commands, self._knowledge.is_engine)

    async def stop(self, host: Host, plan: StopPlan, signal: str = "") -> None:
        """Stop the server as planned; raises BringupError when something of it is left, Busy while another one acts."""
        protected = self._protection.of_server(plan.server)
        with self._deed("stop", about(plan, "stop", signal or plan.ways[0]), protected) as told:
            claimed = await control.claim_a_stop(host, plan.server, told.step, token=self._token, who=who())
            way, pace = way_of(plan, signal)
            try:
                async with control.held(host, claimed):
                    self.ended |= parts_of(plan)
                    stopped = await control.stop(
                        host,
                        survey_of(plan),
                        signal=way,
                        report=told.step,
                        pace=pace,
                        is_engine=self._knowledge.is_engine,
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
            await settle(host, self.claims, plan)
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
        with self._deed("restart", row, self._protection.of_server(plan.server)) as told:
            claimed = await control.claim(host, plan.server, "restart", token=self._token, who=who())
            async with control.held(host, claimed):
                self.ended |= parts_of(plan)
                started = await control.restart(
                    host,
                    survey_of(plan),
                    claimed,
                    report=told.step,
                    argv=words,
                    command=plan.launch if words is None else None,
                    pace=way_of(plan, "")[1],
                    is_engine=self._knowledge.is_engine,
                    regardless=plan.regardless,
                )
            told.end(launched(started), started.pid)
            return started

    async def launch(self, host: Host, name: str, command: LaunchCommand) -> Started:
        """Launch a configured target, detached from the connection."""
        with self._deed("launch", doing("launch", command.command), self._protection.why_not()) as told:
            told.step(Step(f"Launching {name}.", name="launching"))
            started = await control.launch(host, name, command, token=self._token, who=who())
            told.end(control.launched_words(started), started.pid)
            return started

    async def unfinished(self, host: Host) -> Unfinished | None:
        """Return what a lost connection, or another console that ended, left in the middle: what is ours first.

        A session that is confined to a process tree hears of its own actions only.
        """
        return self._chosen(await self.claims(host))

    def _chosen(self, found: Sequence[Unfinished]) -> Unfinished | None:
        return choose(found, self._picture.state, token=self._token, narrowed=self._narrowed)

    async def claims(self, host: Host) -> tuple[Unfinished, ...]:
        """Return all that is under way or left over, of any server, the newest first; its own where it is confined."""
        found = await control.all_unfinished(host, token=self._token)
        return found if self._target.within is None else tuple(left for left in found if self._is_ours(left))

    async def look_back(self, host: Host) -> Unfinished | None:
        """Return what became of an action that was cut off, and tell it, and every change of it, where it was ours."""
        if self._doing:
            return None
        try:
            found = await self.claims(host)
        except ChannelRefused:
            # A host where nothing can be written down has nothing left over either.
            found = ()
        state, now = self._picture.state, self._clock.now()
        self._picture.apply(told_elsewhere(found, state, now, token=self._token, narrowed=self._narrowed))
        self._picture.apply(await told_afterwards(host, self._picture.state, self._clock.now()))
        self.ended |= {part for each in found for part in each.alive if part != each.server}
        left = self._chosen(found)
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
        cut, before, acted = self._cut, self._told, self._picture.state.acted
        self._cut, self._told = None, condition(left) if left is not None else None
        if left is None:
            if cut is not None:
                said = f"Nothing of the {cut.action} is left over on the host: it was not begun, or it is done."
                self.ledger.note(replace(cut, said=said))
                kind = KINDS.get(cut.action, "stop")
                since = acted.since if acted is not None and acted.action == kind else None
                self.tell(kind, Step(said), ended=True, since=since)
        elif self._told != before:
            said = ending(left) if is_over(left) else left.sentence
            if cut is not None:
                self.ledger.note(replace(cut, said=said))
            failed, since = not (left.busy or is_over(left)), self._clock.now() - left.began
            self.tell(kind_of(left), Step(said), ended=not left.busy, failed=failed, since=since)

    async def kept(self, host: Host, left: Unfinished) -> Kept | None:
        """Return the command that a restart in the middle has kept, whichever console began it."""
        command = await control.kept_command(host, left)
        return None if command is None else make_kept(self._name, left, command)

    async def resume(
        self, host: Host, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None
    ) -> Started:
        """Launch what a restart that was cut off had kept, with `argv` as another command than that of the plan."""
        words = unmask(plan.server.argv, argv) if plan is not None and argv is not None else None
        command = "" if words is None else shlex.join(mask_argv(words))
        row = doing("resume", command or left.about)
        with self._deed("restart", row, self._protection.of_left(left)) as told:
            started = await control.resume(host, left, report=told.step, argv=words, token=self._token, who=who())
            told.end(launched(started), started.pid)
            return started

    async def discard(self, host: Host, left: Unfinished) -> None:
        """Forget an action that was cut off, with all that was kept of it; one that is over is ended."""
        row = doing("discard", left.about, (left.server[0],))
        with self._deed(kind_of(left), row, self._protection.of_left(left), quiet=True) as told:
            await control.discard(host, left)
            told.end(parting(left))
        if self._is_ours(left) and not is_over(left):
            self.tell(kind_of(left), Step(parting(left)), ended=True, since=self._clock.now() - left.began)

    async def orphans(self, host: Host) -> tuple[Orphan, ...]:
        """Return the workers that live on without their launcher; whose they were, nobody can tell."""
        found = await control.orphans(host, self._knowledge.engines, within=self._target.within)
        why = self._protection.why_not()
        return found if why is None else tuple(replace(each, why_not=each.why_not or why.what) for each in found)

    async def clear(self, host: Host, chosen: Sequence[Orphan]) -> None:
        """End the chosen orphans; raises BringupError when one of them is left."""
        titles = ", ".join(orphan.process.title or orphan.process.comm for orphan in chosen)
        row = doing("clear", titles, tuple(orphan.process.pid for orphan in chosen))
        with self._deed("clear", row, self._protection.why_not()) as told:
            told.step(Step("Looking at each of them once more."))
            engines = self._knowledge.engines
            cleared = await control.clear(host, chosen, engines, told.step, within=self._target.within)
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

    @property
    def protected(self) -> UsageError | None:
        """Why nothing may be done to the server that is watched, or to the one that is looked for."""
        return self._protection.of_server(self._picture.state.server)

    def _deed(self, kind: Kind, row: About, protected: UsageError | None, *, quiet: bool = False) -> Deed:
        """Return an action that may begin; raises what protects the server that it is about."""
        if protected is not None:
            raise protected
        node = self._picture.state.node
        return Deed(self, kind, row, (self._name, node), quiet=quiet)

    def _complain(self, sentence: str) -> None:
        self._picture.apply([ChannelClosed(at=self._clock.now(), channel="actions", why=sentence)])

    def _is_ours(self, left: Unfinished) -> bool:
        return left.claim.token == self._token

    def tell(
        self, kind: Kind, step: Step, *, ended: bool = False, failed: bool = False, since: float | None = None
    ) -> None:
        """Say how far an action is, and how long it takes until its next step where that is known."""
        now = self._clock.now()
        if self.heard is not None and not ended:
            self.heard(step.text)
        told = ActionStep(
            at=now, action=kind, step=step.text, ended=ended, failed=failed, left=step.left, name=step.name, since=since
        )
        self._picture.apply([told])
