"""What the operator's keys do to the server: look at what it would touch, stop it, launch it again."""

from __future__ import annotations

import getpass
import shlex
import socket
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from bringup.core.errors import BringupError, ChannelRefused, ConnectionLost, UsageError
from bringup.core.events import ActionStep, ChannelClosed
from bringup.core.redact import mask_argv
from bringup.core.state import State
from bringup.history.actions import ActionRow
from bringup.hosts import control
from bringup.hosts.base import Host
from bringup.hosts.control import Busy, LaunchCommand, Orphan, Started, Step, Survey, Unfinished
from bringup.hosts.control.editing import unmask
from bringup.hosts.control.own_command import is_own, with_drain
from bringup.hosts.control.processes import Signal
from bringup.hosts.control.stopping import DRAIN
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.deeds import About, Deed, Kind, Ledger, Write
from bringup.session.knowledge import Knowledge
from bringup.session.picture import Picture

WORKERS = frozenset({"scheduler", "detokenizer", "controller"})
"""Parts whose titles prove a process to be an engine's."""
SIGNALS = ("TERM", "INT", "KILL")


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
        within: int | None = None,
        read_only: bool = False,
        write: Write | None = None,
    ) -> None:
        self._name = name
        self._picture = picture
        self._clock = clock
        self._knowledge = knowledge
        self._stop_command = stop_command
        self._launch = launch
        self._within = within
        self._read_only = read_only
        self.ledger = Ledger(write, self._complain)
        """Where actions are written down."""
        self._token = control.new_token()
        """By it this console knows the actions again that it began before a lost connection."""
        self._doing = False
        self._cut: ActionRow | None = None
        """The last action, where it ended with its connection."""

    async def plan(self, host: Host, state: State) -> StopPlan:
        """Look at what a stop would touch now; raises BringupError when there is no server."""
        if state.server is None:
            raise BringupError("There is no server to stop.", f"Looked for: {state.seeks or 'a running server'}.")
        server = control.with_stop_command(state.server, self._stop_command)
        known = state.processes if state.gone_at is None else ()
        survey = await control.survey(host, server, known, self._is_engine)
        own = is_own(server.launcher.start) or self._launch is not None
        found = await control.examine(host, server)
        shown = mask_argv(server.argv)
        return StopPlan(
            node=self._name if state.node in ("", self._name) else f"{self._name} ({state.node})",
            server=server,
            command=shlex.join(shown),
            members=survey.members,
            bystanders=survey.bystanders,
            log=", ".join(dict.fromkeys(target.path for target in server.logs)),
            restartable="" if own or server.launcher.respawns else found.restartable,
            swept=survey.swept,
            ways=("OWN", *SIGNALS) if server.launcher.stop else SIGNALS,
            stop_command=with_drain(server.launcher.stop, DRAIN),
            start_command=self._launch.command if self._launch else server.launcher.start if own else "",
            log_fate="" if own else found.log,
            argv=() if own or server.launcher.respawns else shown,
            drain=DRAIN,
            launched_by=control.launcher_words(server.launcher),
        )

    async def stop(self, host: Host, plan: StopPlan, signal: str = "") -> None:
        """Stop the server as planned; raises BringupError when something of it is left, Busy while another one acts."""
        with self._deed("stop", _about(plan, "stop", signal or plan.ways[0])) as told:
            claimed = await control.claim(host, plan.server, "stop", token=self._token, who=_who())
            try:
                stopped = await control.stop(
                    host,
                    _survey(plan),
                    signal=cast(Signal, signal or plan.ways[0]),
                    report=told.step,
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
        about = _about(plan, "restart", command="" if words is None else shlex.join(mask_argv(words)))
        with self._deed("restart", about) as told:
            claimed = await control.claim(host, plan.server, "restart", token=self._token, who=_who())
            started = await control.restart(
                host,
                _survey(plan),
                claimed,
                report=told.step,
                argv=words,
                command=self._launch if words is None else None,
                is_engine=self._is_engine,
            )
            told.end(_launched(started), started.pid)
            return started

    async def launch(self, host: Host, name: str, command: LaunchCommand) -> Started:
        """Launch a configured target, detached from the connection."""
        with self._deed("launch", _doing("launch", command.command)) as told:
            told.step(Step(f"Launching {name}.", name="launching"))
            started = await control.launch(host, name, command, token=self._token, who=_who())
            told.end(f"Launched as PID {started.pid}.", started.pid)
            return started

    async def unfinished(self, host: Host) -> Unfinished | None:
        """Return what a lost connection, or another console that ended, left in the middle: what is ours first.

        A session that is confined to a process tree hears of its own actions only.
        """
        found = await control.all_unfinished(host, token=self._token)
        ours = next((left for left in found if self._is_ours(left)), None)
        return ours or (found[0] if found and self._within is None else None)

    async def look_back(self, host: Host) -> Unfinished | None:
        """After a new connection: return what became of an action that was cut off, and tell it where it was ours."""
        if self._doing:
            return None
        try:
            left = await self.unfinished(host)
        except ChannelRefused:
            # A host where nothing can be written down has nothing left over either.
            return None
        if left is not None and self._cut is not None and self._is_ours(left):
            self.ledger.note(replace(self._cut, said=left.sentence))
            self._cut = None
            self.tell(_kind(left), left.sentence, ended=True, failed=not left.new_alive)
        return left

    async def resume(
        self, host: Host, left: Unfinished, plan: StopPlan | None = None, argv: Sequence[str] | None = None
    ) -> Started:
        """Launch what a restart that was cut off had kept, with `argv` as another command than that of the plan."""
        words = unmask(plan.server.argv, argv) if plan is not None and argv is not None else None
        command = "" if words is None else shlex.join(mask_argv(words))
        with self._deed("restart", _doing("resume", command or left.about)) as told:
            started = await control.resume(host, left, report=told.step, argv=words)
            told.end(_launched(started), started.pid)
            return started

    async def discard(self, host: Host, left: Unfinished) -> None:
        """Forget an action that was cut off, with all that was kept of it."""
        given_up = f"The {left.action} is given up; what was kept of it is removed."
        about = _doing("discard", left.about, (left.server[0],))
        with self._deed(_kind(left), about, quiet=True) as told:
            await control.discard(host, left)
            told.end(given_up)
        if self._is_ours(left):
            self.tell(_kind(left), given_up, ended=True)

    async def orphans(self, host: Host) -> tuple[Orphan, ...]:
        """Return the workers that live on without their launcher."""
        return await control.orphans(host, self._knowledge.engines, within=self._within)

    async def clear(self, host: Host, chosen: Sequence[Orphan]) -> None:
        """End the chosen orphans; raises BringupError when one of them is left."""
        about = _doing("clear", pids=tuple(orphan.process.pid for orphan in chosen))
        with self._deed("clear", about) as told:
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

    def _deed(self, kind: Kind, about: About, *, quiet: bool = False) -> Deed:
        """Return an action that may begin; raises UsageError where nothing may be done."""
        if self._read_only:
            what = f"{self._name} is watched read-only: nothing is done to a server there."
            raise UsageError(what, "Leave --read-only out, or take `read-only` away from the target, to allow it.")
        node = self._picture.state.node
        return Deed(self, kind, about, (self._name, node), quiet=quiet)

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
        self._picture.apply([ActionStep(at=now, action=kind, step=step, ended=ended, failed=failed, left=left)])


def _kind(left: Unfinished) -> Kind:
    return "restart" if left.action == "restart" else "stop"


def _about(plan: StopPlan, action: str, way: str = "", command: str = "") -> About:
    return _doing(action, command or plan.command, tuple(member.pid for member in plan.members), way)


def _doing(action: str, what: str = "", pids: tuple[int, ...] = (), way: str = "") -> About:
    return About(_who(), action, what, pids, way)


def _survey(plan: StopPlan) -> Survey:
    return Survey(plan.server, plan.members, plan.bystanders, swept=plan.swept)


def _launched(started: Started) -> str:
    parts = [f"Launched again as PID {started.pid}" if started.pid else "Started again by its launcher"]
    parts += [f"the old log is {path}" for path in started.aside]
    parts += [f"it could not be given the {what}" for what in started.unlike]
    return "; ".join(parts) + "."


def _who() -> str:
    """Return who acts, for others who want to act too."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except OSError:
        return socket.gethostname()
