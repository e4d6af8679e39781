"""Stopping and restarting from the screen: look again, show exactly what is touched, ask, then order it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from textual.notifications import SeverityLevel
from textual.screen import Screen

from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.state import Action
from bringup.session.console import Console, Orphan, StopPlan, Unfinished
from bringup.ui.paint.progress import freed
from bringup.ui.picture import Picture
from bringup.ui.screens.confirm import ClearDialog, RestartDialog, StopDialog
from bringup.ui.screens.left import LeftDialog

_LOOKS = 6
_LOOK_EVERY = 10.0
_SEARCH = 1.0
"""Looks, and seconds between them, at an action of another console that may have been cut off."""


class Orders:
    """What the operator orders to be done to servers and orphans; runs inside workers of the screen."""

    def __init__(self, screen: Screen[None], title: str, console: Callable[[], Console | None]) -> None:
        self._screen = screen
        self._title = title
        self._console = console
        self._doing = ""
        """The order that was confirmed and has not ended: a second one must not take its place."""
        self._is_back = False
        self.plan: StopPlan | None = None
        self.held_before = 0
        self.dismissed: Action | None = None

    def begin(self, action: str) -> None:
        """Begin "stop" or "restart", unless one is under way or there is nothing to act on."""
        console = self._console()
        if console is None or console.read_only or self._is_busy(console):
            return
        work = self._stop(console) if action == "stop" else self._restart(console)
        self._screen.run_worker(work, name=action, group="orders", exclusive=True)

    def clear(self, chosen: Sequence[Orphan]) -> None:
        """Ask whether to clear these orphans, and do it."""
        console = self._console()
        if console is None or console.read_only or self._is_busy(console):
            return
        self._screen.run_worker(self._clear(console, chosen), name="clear", group="orders", exclusive=True)

    def look_back(self) -> None:
        """After a new connection: ask the host what was left in the middle, and the operator what to do about it."""
        console = self._console()
        if console is None:
            return
        # An order that has not heard yet that its connection was lost: once it has.
        self._is_back = bool(self._doing)
        if not self._is_back:
            self._screen.run_worker(self._look_back(console), name="look-back", group="look-back", exclusive=True)

    def dismiss(self) -> bool:
        """Take away what is said of an action that failed; False where nothing is."""
        console = self._console()
        action = console.state.action if console is not None else None
        if action is None or not action.failed or not action.ended or action is self.dismissed:
            return False
        self.dismissed = action
        return True

    def follow(self, before: Picture | None, after: Picture) -> None:
        """Tell the end of an action once, between the pictures before and after it; look back after a reconnection."""
        action = after.state.action
        is_new = before is not None and before.state.action is not action
        if action is not None and action.ended and not action.failed and is_new:
            text = " ".join([action.step, *freed(after)])
            self._screen.notify(clean_text(text), title=action.action, markup=False, timeout=12)
        if after.state.link.status == "up" and (before is None or before.state.link.status != "up"):
            self.look_back()

    def _is_busy(self, console: Console) -> bool:
        doing = console.state.action
        under_way = doing.action if doing is not None and not doing.ended else self._doing
        if under_way:
            self._tell(f"A {under_way} is under way already.", "warning")
        return bool(under_way)

    async def _stop(self, console: Console) -> None:
        plan = await self._look(console)
        if plan is None:
            return
        if not plan.members:
            self._tell("All processes of this server have ended: there is nothing to stop.", "information")
            return
        way = await self._screen.app.push_screen_wait(StopDialog(plan))
        if way is not None:
            await self._do(console, "stop", console.stop(plan, way), plan)

    async def _restart(self, console: Console) -> None:
        plan = await self._look(console)
        if plan is None:
            return
        argv = await self._screen.app.push_screen_wait(RestartDialog(plan))
        if argv is None:
            return
        error = await self._do(console, "restart", console.restart(plan, argv or None), plan)
        if error is not None and not isinstance(error, ConnectionLost):
            await self._settle(console, await self._left(console), str(error), plan, argv or plan.argv)

    async def _clear(self, console: Console, chosen: Sequence[Orphan]) -> None:
        if await self._screen.app.push_screen_wait(ClearDialog(self._node(console), chosen)):
            await self._do(console, "clearing of orphans", console.clear(chosen))

    async def _look(self, console: Console) -> StopPlan | None:
        try:
            return await console.plan()
        except BringupError as error:
            self._tell(str(error), "error")
            return None

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
                self._tell(str(error), "error")
            return error
        finally:
            self._doing = ""
            if self._is_back:
                self._is_back = False
                self.look_back()
        return None

    async def _look_back(self, console: Console) -> None:
        for _ in range(_LOOKS):
            # What runs now is said beside what was left: the search has to have looked.
            if console.state.server is not None or console.state.seeks:
                break
            await asyncio.sleep(_SEARCH)
        for look in range(_LOOKS):
            left = await self._left(console)
            if left is None:
                return
            if not left.busy:
                await self._settle(console, left)
                return
            if look == 0:
                self._tell(left.sentence, "warning")
            await asyncio.sleep(_LOOK_EVERY)

    async def _left(self, console: Console) -> Unfinished | None:
        try:
            return await console.unfinished()
        except BringupError as error:
            self._tell(f"What was left in the middle is not known. {error}", "warning")
            return None

    async def _settle(
        self,
        console: Console,
        left: Unfinished | None,
        why: str = "",
        plan: StopPlan | None = None,
        argv: tuple[str, ...] = (),
    ) -> None:
        """Say what was left, and do what the operator chooses; `plan` and `argv` are those of a restart that failed."""
        dialog = LeftDialog(
            self._node(console),
            left,
            why=why,
            plan=plan,
            argv=argv,
            beside=_beside(console, left),
            read_only=console.read_only,
        )
        answer = await self._screen.app.push_screen_wait(dialog)
        if answer is None or left is None:
            return
        beside = _beside(console, left)
        if answer == "launch" and beside is not None:
            self._tell(f"A server has come up meanwhile (PID {beside.pid}): nothing was launched.", "warning")
            return
        if answer == "launch":
            await self._resume(console, left, dialog)
            return
        before = console.state.action
        if await self._do(console, "discard", console.discard(left)) is None and console.state.action is before:
            self._tell(f"The {left.action} is given up; what was kept of it is removed.", "information")

    async def _resume(self, console: Console, left: Unfinished, dialog: LeftDialog) -> None:
        argv = dialog.argv if dialog.is_edited else None
        error = await self._do(console, "restart", console.resume(left, dialog.plan, argv))
        if error is not None and not isinstance(error, ConnectionLost):
            await self._settle(console, await self._left(console), str(error), dialog.plan, dialog.argv)

    def _node(self, console: Console) -> str:
        """Return what the operator calls the host, and what it calls itself."""
        node = console.state.node
        return self._title if node in ("", self._title) else f"{self._title} ({node})"

    def _tell(self, text: str, severity: SeverityLevel) -> None:
        self._screen.notify(clean_text(text), severity=severity, markup=False, timeout=8)


def _beside(console: Console, left: Unfinished | None) -> Server | None:
    """Return a server that runs and is neither the old nor the new one of what was left."""
    state = console.state
    if left is None or state.server is None or state.gone_at is not None:
        return None
    return None if (state.server.pid, state.server.start) in (left.server, left.new) else state.server
