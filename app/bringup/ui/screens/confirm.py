"""The dialogs before the server is stopped or restarted, and before orphans are cleared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from bringup.core.events import Process
from bringup.core.sanitize import clean_text
from bringup.session.console import Orphan, StopPlan
from bringup.ui.editing import difference, groups, quoted
from bringup.ui.paint.difference import paint_difference
from bringup.ui.paint.orders import (
    paint_after_restart,
    paint_after_stop,
    paint_hurry,
    paint_plan,
    paint_ways,
    text_rows,
)
from bringup.ui.paint.orphans import paint_clearing
from bringup.ui.paint.row import Row
from bringup.ui.screens.dialog import Dialog
from bringup.ui.screens.editor import EditScreen

_MOST_WAYS = 5


class StopDialog(Dialog[str]):
    """Asks how to stop the server; answers with the way as `Console.stop` takes it, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "choose(-1)", show=False),
        Binding("down,j", "choose(1)", show=False),
        *(Binding(str(number), f"pick({number})", show=False) for number in range(1, _MOST_WAYS + 1)),
    ]
    yes = "Stop it (y)"

    def __init__(self, plan: StopPlan) -> None:
        super().__init__()
        self.plan = plan
        self.chosen = 0

    def rows(self, width: int) -> list[Row]:
        """Return what is touched, and what comes after it."""
        after = paint_after_stop(self.plan, self.plan.ways[self.chosen], width)
        server = self.plan.server
        is_whole = (server.pid, server.start) in {(each.pid, each.start) for each in self.plan.members}
        title = "Stop this server?" if is_whole else "End what is left of this server?"
        return [((title, "bad"),), (), *paint_plan(self.plan, width), *after]

    def choices(self) -> list[Row]:
        """Return the ways."""
        return [(), *paint_ways(self.plan, self.chosen, self.inner)]

    def action_choose(self, step: int) -> None:
        """Choose the next way."""
        self.chosen = (self.chosen + step) % len(self.plan.ways)
        self.draw()

    def action_pick(self, number: int) -> None:
        """Choose a way by its number."""
        if number <= len(self.plan.ways):
            self.chosen = number - 1
            self.draw()

    def action_accept(self) -> None:
        """Answer with the way."""
        self.dismiss(self.plan.ways[self.chosen])


class HurryDialog(Dialog[str]):
    """Asks whether what is left of a stop under way is killed at once; answers "now", or None."""

    yes = "Kill it now (y)"
    no = "Wait on"

    def __init__(self, plan: StopPlan, left: Sequence[Process]) -> None:
        super().__init__()
        self.plan = plan
        self.left = tuple(left)
        """What still runs of it."""

    def renew(self, left: Sequence[Process]) -> None:
        """Show what still runs by now."""
        if (now := tuple(left)) != self.left:
            self.left = now
            if self.is_mounted:
                self.draw()

    def rows(self, width: int) -> list[Row]:
        """Return what is killed."""
        return paint_hurry(self.plan, self.left, width)

    def action_accept(self) -> None:
        """Answer yes."""
        self.dismiss("now")


class RestartDialog(Dialog[tuple[str, ...]]):
    """Asks whether to stop the server and launch it again; answers with the command, masked as the plan's, or None.

    An empty command means the same as before, or the launcher's own.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("e", "edit", show=False)]
    missed = frozenset({"y", "e"})
    yes = "Restart it (y)"

    def __init__(self, plan: StopPlan) -> None:
        self.plan = plan
        self.argv = plan.argv
        self._why_not = ""
        """Why the edited command would be refused."""
        if plan.restartable:
            self.yes = ""
            self.no = "Close"
        self.other = "Edit the command (e)" if plan.argv and not plan.restartable else ""
        super().__init__()

    @property
    def is_edited(self) -> bool:
        """The command is not the one that runs."""
        return self.argv != self.plan.argv

    def rows(self, width: int) -> list[Row]:
        """Return what is touched and what comes after it, or why it cannot be done."""
        plan = self.plan
        title = "This server cannot be restarted here" if plan.restartable else "Restart this server?"
        rows: list[Row] = [((title, "bad"),), ()]
        if self.is_edited:
            changes = difference(plan.argv, self.argv)
            rows += [(("The command was edited:", "strong"),), *paint_difference(changes, width), ()]
        command = " ".join(quoted(group) for group in groups(self.argv)) if self.is_edited else ""
        if self._why_not:
            rows += text_rows("but", self._why_not, width, 4, "bad")
        rows += paint_plan(plan, width, command=command)
        return [*rows, *paint_after_restart(plan, width, edited=self.is_edited)]

    def action_other(self) -> None:
        """Edit the command."""
        self.action_edit()

    def action_edit(self) -> None:
        """Edit the command, where an edited one would be the one that is launched; else say where it is edited."""
        if self.other:
            self.stand_back()
            self.app.push_screen(EditScreen(self.plan, self.argv), self._take)
        else:
            why = self.plan.restartable or self.plan.fixed or "Its launcher starts it: its command is edited there."
            self.note(f"No command can be edited here. {clean_text(why)}")

    def _take(self, argv: tuple[str, ...] | None) -> None:
        if argv is not None:
            self.argv, self._why_not = argv, ""
            if self.is_edited:
                self.run_worker(self._ask(argv), name="refuses", exclusive=True)
        self.begin_anew()

    async def _ask(self, argv: tuple[str, ...]) -> None:
        """Say why that would be refused as soon as the host tells; the restart itself asks, too."""
        why = await self.plan.refuses(argv)
        if why and self.argv == argv:
            self._why_not = why
            self.begin_anew()

    def draw(self) -> None:
        """Paint the body; nothing can be said yes to while the command would be refused."""
        super().draw()
        for button in self.query("#yes"):
            button.display = button.display and not self._why_not

    def action_accept(self) -> None:
        """Answer yes, where there is something to say yes to."""
        if self.plan.restartable:
            self.dismiss(None)
        elif not self._why_not:
            self.dismiss(self.argv if self.is_edited else ())


class ClearDialog(Dialog[str]):
    """Asks whether to end exactly these orphans; answers "clear", or None."""

    yes = "Clear them (y)"

    def __init__(self, node: str, chosen: Sequence[Orphan]) -> None:
        super().__init__()
        self.node = node
        self.chosen = tuple(chosen)

    def rows(self, width: int) -> list[Row]:
        """Return each of them, and how they are ended."""
        return paint_clearing(self.node, self.chosen, width)

    def action_accept(self) -> None:
        """Answer yes."""
        self.dismiss("clear")
