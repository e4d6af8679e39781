"""Stopping and restarting from the screen: look again, show exactly what is touched, ask, then order it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from functools import cached_property
from typing import Any

from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.sanitize import clean_text
from bringup.core.state import Action, State
from bringup.session.console import Console, Orphan, StopPlan, Unfinished
from bringup.session.left_over import concerns, parting
from bringup.session.still_running import outlived
from bringup.ui.left_over import Failed, LeftOver, Orderly
from bringup.ui.paint.notices import may_hurry
from bringup.ui.paint.progress import freed, left_of
from bringup.ui.screens.confirm import ClearDialog, HurryDialog, RestartDialog, StopDialog
from bringup.ui.screens.dialog import Answer, Dialog

_SLOW = 1.5
"""Seconds after which it is said that a key was heard, where what it asks for is not there yet."""


class Orders(Orderly):
    """What the operator orders to be done to servers and orphans of a host; runs inside workers of the screen."""

    plan: StopPlan | None = None
    held_before = 0
    dismissed: Action | None = None
    _doing = ""
    """The order that was confirmed and has not ended: a second one must not take its place."""
    _asking: tuple[Dialog[Any], StopPlan] | None = None
    """The question whether a server that runs is touched, while it is asked."""
    _hurrying: HurryDialog | None = None
    """The question whether what is left is killed now, while it is asked."""
    _followed: tuple[Console, State] | None = None
    """The session, and the state of it up to which all was told."""

    @cached_property
    def left_over(self) -> LeftOver:
        """What was left in the middle on the host."""
        return LeftOver(self._screen, self)

    def begin(self, action: str) -> None:
        """Begin "stop" or "restart", unless one is under way or there is nothing to act on."""
        console, whole = self._console(), self._whole()
        if console is None or whole is None:
            return
        if whole.read_only:
            self.tell(whole.why_read_only, "warning")
            return
        if action == "stop" and self.plan is not None and self._drains(console):
            if self._hurrying is None:
                self._hurrying = HurryDialog(self.plan, left_of(console.state, self.plan))
                self._screen.run_worker(self._hurry(console, self._hurrying), name="hurry", group=self.group("hurry"))
            return
        if self._has_order():
            return
        work = self._stop(console) if action == "stop" else self._restart(console)
        self._give(action, work)

    def clear(self, chosen: Sequence[Orphan]) -> None:
        """Ask whether to clear these orphans, and do it."""
        console = self._console()
        if console is None or self.is_read_only or self._has_order():
            return
        self._give("clear", self._clear(console, chosen))

    def see_left(self) -> None:
        """Show what was left in the middle, and what can be done about it."""
        if (console := self._console()) is not None:
            self.left_over.open(console)

    def uncovered(self) -> None:
        """Nothing stands above the screen any more."""
        self.left_over.uncovered(self._console())

    def dismiss(self) -> bool:
        """Take away what is said of an action that failed; False where nothing is."""
        console = self._console()
        action = console.state.action if console is not None else None
        if action is None or not action.failed or not action.ended or action is self.dismissed:
            return False
        self.dismissed = action
        return True

    def follow(self) -> None:
        """Tell the end of an action once; look back as soon as the host is connected, and after each reconnection."""
        console = self._console()
        if console is None:
            return
        state, known = console.state, self._followed
        before = known[1] if known is not None and known[0] is console else None
        self._followed = (console, state)
        action, is_new = state.action, before is not None and before.action is not state.action
        if action is not None and action.ended and not action.failed and is_new:
            text = " ".join([action.step, *freed(state, self.plan, self.held_before)])
            self._screen.notify(clean_text(self.placed(text)), title=action.action, markup=False, timeout=12)
        self._follow_question(state)
        self._follow_hurry(console)
        if state.link.status == "up" and (before is None or before.link.status != "up"):
            self.left_over.begin(console)
        elif before is not None and _ending_of(before) != _ending_of(state):
            self.left_over.suspect(console)

    @property
    def is_busy(self) -> bool:
        """An order that was given has not ended."""
        return bool(self._doing)

    @property
    def under_way(self) -> tuple[str, str]:
        """What is done here now, and the last step that was told of it; "" for nothing."""
        console = self._console()
        doing = console.state.action if console is not None else None
        return (doing.action, doing.step) if doing is not None and not doing.ended else (self._doing, "")

    def is_own(self, left: Unfinished) -> bool:
        """Say whether it was begun on this screen."""
        return self.plan is not None and (self.plan.server.pid, self.plan.server.start) == left.server

    def resume(self, console: Console, left: Unfinished, plan: StopPlan | None, argv: tuple[str, ...] | None) -> None:
        """Launch what a restart that was cut off, or failed, had kept."""
        if self._has_order():
            return
        self._give("resume", self._resume(console, left, plan, argv))

    def discard(self, console: Console, left: Unfinished) -> None:
        """Forget it."""
        if self._has_order():
            return
        self._give("discard", self._discard(console, left))

    def end_rest(self, console: Console, left: Unfinished) -> None:
        """Ask whether what still runs of it is ended, and do it; a whole server is stopped as it was launched."""
        if left.server in left.alive:
            self.begin("stop")
        elif not self._has_order():
            self._give("stop", self._stop(console, left))

    def _give(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(work, name=name, group=self.group("orders"), exclusive=True)

    def _has_order(self) -> bool:
        doing, _ = self.under_way
        if doing:
            self.tell(f"A {doing} is under way already.", "warning")
        return bool(doing)

    def _drains(self, console: Console) -> bool:
        """Say whether an order of this screen waits for the server to end by itself, and may be hurried."""
        doing = console.state.action
        return doing is not None and may_hurry(doing) and self._doing in ("stop", "restart")

    async def _ask(self, console: Console, plan: StopPlan, dialog: Dialog[Answer]) -> Answer | None:
        """Ask about a server; it is not asked any more once that has ended."""
        self._asking = (dialog, plan) if _runs(console.state, plan) else None
        try:
            return await self._screen.app.push_screen_wait(dialog)
        finally:
            self._asking = None

    def _follow_question(self, state: State) -> None:
        if self._asking is None:
            return
        dialog, plan = self._asking
        if not _runs(state, plan):
            self._asking = None
            dialog.settle()
            told = f"The server (PID {plan.server.pid}) has ended while you were asked: nothing was done to it."
            self.tell(told, "warning")

    def _follow_hurry(self, console: Console) -> None:
        """Keep the question about what is left to what is left, and close it once it is no question any more."""
        if self._hurrying is None:
            return
        if not self._drains(console):
            self._hurrying.settle()
        else:
            self._hurrying.renew(left_of(console.state, self._hurrying.plan))

    async def _hurry(self, console: Console, dialog: HurryDialog) -> None:
        try:
            answer = await self._screen.app.push_screen_wait(dialog)
        finally:
            self._hurrying = None
        if answer is None:
            return
        if self.plan is dialog.plan and self._drains(console):
            dialog.plan.hurry.now()
        else:
            self.tell("It was over by then: that key killed nothing.", "information")

    async def _stop(self, console: Console, left: Unfinished | None = None) -> None:
        try:
            plan = await self._look(console, left)
        except BringupError as error:
            self.tell(str(error), "error")
            return
        if not plan.members:
            lives = outlived(console.state)
            ended = "All processes of this server have ended: there is nothing to stop."
            self.tell(f"{lives} o shows what lives on, and can end it." if lives else ended, "warning")
            return
        way = await self._ask(console, plan, StopDialog(plan))
        if way is not None:
            await self._do(console, "stop", console.stop(plan, way), plan)

    async def _restart(self, console: Console) -> None:
        plan, why = None, ""
        try:
            plan = await self._look(console)
        except BringupError as refused:
            is_none = console.state.server is None and not isinstance(refused, ConnectionLost)
            why = f"There is no server to restart. {refused.hint}" if is_none else str(refused)
        if (plan is None or plan.restartable) and await self._is_kept(console):
            self.left_over.open(console)
            return
        if plan is None:
            self.tell(why, "error")
            return
        argv = await self._ask(console, plan, RestartDialog(plan))
        if argv is None:
            return
        error = await self._do(console, "restart", console.restart(plan, argv or None), plan)
        if error is not None and not isinstance(error, ConnectionLost):
            self.left_over.begin(console, Failed(str(error), plan, argv or plan.argv))
            if not self.is_shown:
                # What can be done about it is shown together with its host.
                self.tell(str(error), "error")

    async def _is_kept(self, console: Console) -> bool:
        """Say whether the host has what the server was launched with: it failed long after a restart."""
        try:
            left = await console.unfinished()
        except BringupError:
            return False
        return left is not None and "launch" in left.can and concerns(left, console.state)

    async def _clear(self, console: Console, chosen: Sequence[Orphan]) -> None:
        if await self._screen.app.push_screen_wait(ClearDialog(self.called(console), chosen)):
            await self._do(console, "clearing of orphans", console.clear(chosen))

    async def _look(self, console: Console, left: Unfinished | None = None) -> StopPlan:
        text = "The host is asked what that would touch; it takes its time."
        slow = asyncio.get_running_loop().call_later(_SLOW, self.tell, text, "information")
        try:
            return await (console.plan() if left is None else console.plan(left))
        finally:
            slow.cancel()

    async def _do(
        self, console: Console, name: str, order: Awaitable[None], plan: StopPlan | None = None
    ) -> BringupError | None:
        """Carry out an order that was confirmed; returns, after telling it, why it failed."""
        self._doing, self.plan = name, plan
        ours = {each.pid for each in plan.members} if plan is not None else set()
        self.held_before = sum(app.used or 0 for app in console.state.gpu.apps if app.pid in ours)
        try:
            await order
        except BringupError as error:
            if name != "restart" or isinstance(error, ConnectionLost):
                self.tell(str(error), "error")
            return error
        finally:
            self._doing = ""
        return None

    async def _resume(
        self, console: Console, left: Unfinished, plan: StopPlan | None, argv: tuple[str, ...] | None
    ) -> None:
        error = await self._do(console, "restart", console.resume(left, plan, argv), self.plan)
        if isinstance(error, ConnectionLost):
            return
        shown = argv or (plan.argv if plan is not None else ())
        self.left_over.begin(console, Failed(str(error), plan, shown) if error is not None else None)

    async def _discard(self, console: Console, left: Unfinished) -> None:
        before = console.state.action
        error = await self._do(console, "discard", console.discard(left), self.plan)
        if error is None and console.state.action is before:
            self.tell(parting(left), "information")
        if not isinstance(error, ConnectionLost):
            self.left_over.begin(console)


def _ending_of(state: State) -> tuple[float | None, float | None, int]:
    """What tells that the watched server ends: each of them may be the first sign of a stop from another console."""
    return state.gone_at, state.last_loss, len(state.attempt.endings)


def _runs(state: State, plan: StopPlan) -> bool:
    """Say whether the planned server is the one that is watched, and runs."""
    server = state.server
    same = server is not None and (server.pid, server.start) == (plan.server.pid, plan.server.start)
    return same and state.gone_at is None
