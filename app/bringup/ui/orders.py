"""Stopping and restarting from the screen: look again, show exactly what is touched, ask, then order it."""

from __future__ import annotations

from collections.abc import Callable

from textual.notifications import SeverityLevel
from textual.screen import Screen

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.session.console import Console
from bringup.ui.picture import Picture
from bringup.ui.screens.confirm import RestartDialog, StopDialog


class Orders:
    """The two commands that touch a server; runs inside a worker of the screen."""

    def __init__(self, screen: Screen[None], console: Callable[[], Console | None]) -> None:
        self._screen = screen
        self._console = console

    def begin(self, action: str) -> None:
        """Begin "stop" or "restart", unless one is under way or there is nothing to act on."""
        console = self._console()
        if console is None or console.read_only:
            return
        doing = console.state.action
        if doing is not None and not doing.ended:
            self._tell(f"A {doing.action} is under way already.", "warning")
            return
        work = self._stop(console) if action == "stop" else self._restart(console)
        self._screen.run_worker(work, name=action, group="orders", exclusive=True)

    def tell_end(self, before: Picture | None, after: Picture) -> None:
        """Tell the end of an action once, between the pictures before and after it."""
        action = after.state.action
        if action is None or not action.ended or action.failed or before is None or before.state.action is action:
            return
        self._screen.notify(clean_text(action.step), title=action.action, markup=False, timeout=8)

    async def _stop(self, console: Console) -> None:
        try:
            plan = await console.plan()
            if not plan.members:
                self._tell("All processes of this server have ended: there is nothing to stop.", "information")
                return
            signal = await self._screen.app.push_screen_wait(StopDialog(plan))
            if signal is not None:
                await console.stop(plan, signal)
        except BringupError as error:
            self._tell(str(error), "error")

    async def _restart(self, console: Console) -> None:
        try:
            plan = await console.plan()
            if await self._screen.app.push_screen_wait(RestartDialog(plan)):
                await console.restart(plan)
        except BringupError as error:
            self._tell(str(error), "error")

    def _tell(self, text: str, severity: SeverityLevel) -> None:
        self._screen.notify(clean_text(text), severity=severity, markup=False, timeout=8)
