"""What was left in the middle on a host: looked at again and again, said as it is now, and seen to by the operator."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from textual.screen import Screen

from bringup.core.errors import BringupError, ConnectionLost
from bringup.core.events import Server
from bringup.session.console import Console, Kept, StopPlan, Unfinished
from bringup.session.left_over import concerns, condition, ending, is_over
from bringup.ui.post import Post
from bringup.ui.screens.left import Answer, LeftDialog

EVERY = 3.0
"""Seconds between two looks at what was left in the middle."""
_SEARCH = 6.0
"""Seconds that the search for servers is given."""
_SOON = 0.1


class Orderly(Post):
    """What carries out the orders that follow from it, on the host where it is."""

    @property
    def is_busy(self) -> bool:
        """An order is under way."""
        raise NotImplementedError

    def resume(self, console: Console, left: Unfinished, plan: StopPlan | None, argv: tuple[str, ...] | None) -> None:
        """Launch what was kept."""
        raise NotImplementedError

    def discard(self, console: Console, left: Unfinished) -> None:
        """Forget it."""
        raise NotImplementedError

    def end_rest(self, console: Console, left: Unfinished) -> None:
        """End what still runs of it."""
        raise NotImplementedError

    def is_own(self, left: Unfinished) -> bool:
        """Say whether it was begun on this screen."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Failed:
    """A restart of this console that failed: why, and with which command."""

    why: str
    plan: StopPlan | None = None
    argv: tuple[str, ...] = ()


class LeftOver:
    """Follows one unfinished action of a host for as long as there is one and the connection is up."""

    def __init__(self, screen: Screen[None], orders: Orderly) -> None:
        self._screen = screen
        self._orders = orders
        self.left: Unfinished | None = None
        """What there is now; None where nothing is left over, or nobody has looked yet."""
        self._seen: tuple[Unfinished | None, Server | None] = (None, None)
        """That, and the server that runs beside it."""
        self._failed: Failed | None = None
        self._kept: Kept | None = None
        """The command that its host has kept, whichever console began it."""
        self._asked: Unfinished | None = None
        """In which condition it was when the host was asked for that."""
        self._dialog: LeftDialog | None = None
        self._wanted = False
        """It is to be shown as soon as nothing else is on the screen."""
        self._nudged = asyncio.Event()
        self._told: Unfinished | None = None
        """What the operator was told of, or shown, last."""

    def begin(self, console: Console, failed: Failed | None = None) -> None:
        """Look from now on; `failed` is what this console's own restart has just ended with."""
        if failed is not None:
            self._failed, self._wanted = failed, True
        self._work(self._follow(console))

    def suspect(self, console: Console) -> None:
        """Look at once, whatever is followed already: the server ends, and somebody else may have ordered that."""
        self._nudged.set()
        if self.left is None and not self._orders.is_busy:
            self.begin(console)

    def open(self, console: Console) -> None:
        """Show it, because the operator asks; where nothing is known of, look before that is said."""
        if self.left is None:
            self._work(self._look_and_open(console))
        elif self._dialog is None:
            self._show(console)

    def _work(self, look: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(look, name="look-back", group=self._orders.group("look-back"), exclusive=True)

    async def _look_and_open(self, console: Console) -> None:
        if self._orders.is_busy:
            self._orders.tell("What is done from here is under way; nothing else is known to be left.", "information")
            return
        try:
            self._wanted = await console.unfinished() is not None
        except BringupError as error:
            self._orders.tell(f"What was left in the middle is not known. {error}", "warning")
            return
        if not self._wanted:
            self._orders.tell("Nothing was left in the middle here.", "information")
        await self._follow(console)

    def uncovered(self, console: Console | None) -> None:
        """The main screen is on top again: what waited for that is shown."""
        if console is not None:
            self._show_if_wanted(console)

    # --- looking ---

    async def _follow(self, console: Console) -> None:
        await _searched(console)
        found, before = True, None
        while found and console.state.link.status == "up":
            if self._orders.is_busy:
                # An order that was given may not have heard yet that its connection was lost.
                await asyncio.sleep(_SOON)
                continue
            left = await self._look(console)
            if self._orders.is_busy:
                continue
            found = left is not None
            await self._take(console, left, before)
            before = left
            if found:
                await self._pause()

    async def _pause(self) -> None:
        """Wait for the next look, or until there is reason for one."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._nudged.wait(), EVERY)
        self._nudged.clear()

    async def _look(self, console: Console) -> Unfinished | None:
        try:
            left = await console.unfinished()
            return replace(left, untouched=True) if left is not None and self._orders.is_read_only else left
        except ConnectionLost:
            # It is begun anew with the next connection.
            return self.left
        except BringupError as error:
            self._orders.tell(f"What was left in the middle is not known. {error}", "warning")
            return None

    async def _take(self, console: Console, left: Unfinished | None, before: Unfinished | None) -> None:
        """Learn what there is now; `before` is what this round of looks has seen the last time."""
        # Twice, for a new server that ends at once has not begun yet.
        if left is not None and is_over(left) and before is not None and is_over(before):
            await self._end(console, left)
            return
        known = self._kept
        await self._ask_kept(console, left)
        seen = (left, beside(console, left))
        is_same, self.left, self._seen = seen == self._seen and self._kept is known, left, seen
        if left is None and (before is not None or self._failed is None):
            self._settled()
        elif self._dialog is not None and not is_same:
            self._dialog.call_next(self._dialog.renew, *seen, self._known.plan, self._known.argv)
        elif self._dialog is None and left is not None and self._is_news(left):
            self._tell_first(console, left)
        self._told = left
        self._show_if_wanted(console)
        if not is_same:
            self._orders.paint()

    async def _ask_kept(self, console: Console, left: Unfinished | None) -> None:
        """Ask for the command that is kept, once for each condition; after a lost connection anew."""
        now = condition(left) if left is not None else None
        if now == self._asked:
            return
        self._kept, self._asked = None, None
        try:
            if left is not None and not self._orders.is_read_only:
                self._kept = await console.kept(left)
        except ConnectionLost:
            return
        except BringupError:
            # It can be launched as it is kept all the same.
            self._kept = None
        self._asked = now

    @property
    def _known(self) -> Failed:
        """What this console knows of it, and else what the host has kept."""
        failed = self._failed or Failed("")
        if failed.plan is not None or self._kept is None:
            return failed
        return Failed(failed.why, self._kept.plan, self._kept.argv)

    def _is_news(self, left: Unfinished) -> bool:
        told = self._told
        return told is None or told.claim != left.claim or (told.busy and not left.busy)

    def _tell_first(self, console: Console, left: Unfinished) -> None:
        """The dialog is about the server on the screen; of others it is said once what was left of them."""
        if left.busy:
            self._orders.tell(left.sentence, "warning")
        elif self._orders.is_own(left) or concerns(left, console.state):
            self._wanted = self._wanted or not is_over(left)
        else:
            self._orders.tell(f"{left.sentence} Another server is watched here; u shows what can be done.", "warning")

    async def _end(self, console: Console, left: Unfinished) -> None:
        """It is over: say so, and have it ended on the host, too."""
        self._settled()
        said, action = ending(left), console.state.action
        if action is None or action.step != said:
            self._orders.tell(said, "information")
        if not self._orders.is_read_only:
            try:
                await console.discard(left)
            except BringupError as error:
                self._orders.tell(str(error), "warning")
        self._orders.paint()

    # --- showing ---

    def _show_if_wanted(self, console: Console) -> None:
        is_seen = self._orders.is_shown and self._screen.app.screen is self._screen
        if self._wanted and self._dialog is None and is_seen:
            self._show(console)

    def _show(self, console: Console) -> None:
        self._wanted = False
        failed = self._known
        dialog = self._dialog = LeftDialog(
            self._orders.called(console),
            self.left,
            why=failed.why,
            plan=failed.plan,
            argv=failed.argv,
            beside=beside(console, self.left),
        )
        self._screen.app.push_screen(dialog, lambda answer: self._answered(console, dialog, answer))

    def _settled(self) -> None:
        """There is nothing left to be seen to."""
        self._wanted, self._failed = False, None
        self.left = self._told = None
        if self._dialog is not None:
            self._dialog.settle()

    def _answered(self, console: Console, dialog: LeftDialog, answer: Answer | None) -> None:
        self._dialog = None
        left, plan = dialog.left, self._known.plan
        if left is None:
            self._failed = None
        if answer is None or left is None:
            return
        if answer == "end":
            self._orders.end_rest(console, left)
            return
        other = beside(console, left)
        if answer == "launch" and other is not None:
            self._orders.tell(f"A server has come up meanwhile (PID {other.pid}): nothing was launched.", "warning")
            return
        self._failed = None
        if answer == "discard":
            self._orders.discard(console, left)
        else:
            self._orders.resume(console, left, plan, dialog.argv if dialog.is_edited else None)


def beside(console: Console, left: Unfinished | None) -> Server | None:
    """Return a server that runs and is neither the old nor the new one of what was left."""
    state = console.state
    if left is None or state.server is None or state.gone_at is not None:
        return None
    return None if (state.server.pid, state.server.start) in (left.server, left.new) else state.server


async def _searched(console: Console) -> None:
    """Give the search for servers a while: what runs now is said beside what was left."""
    for _ in range(round(_SEARCH / _SOON)):
        if console.state.server is not None or console.state.seeks:
            return
        await asyncio.sleep(_SOON)
