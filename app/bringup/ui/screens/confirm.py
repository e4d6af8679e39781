"""The dialogs before the server is stopped or restarted, and before orphans are cleared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from bringup.session.console import Orphan, StopPlan
from bringup.ui.editing import difference, groups, quoted
from bringup.ui.paint.difference import paint_difference
from bringup.ui.paint.orders import paint_after_restart, paint_after_stop, paint_hurry, paint_plan, paint_ways
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
        return [(("Stop this server?", "bad"),), (), *paint_plan(self.plan, width), *after]

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

    def __init__(self, plan: StopPlan) -> None:
        super().__init__()
        self.plan = plan

    def rows(self, width: int) -> list[Row]:
        """Return what is killed."""
        return paint_hurry(self.plan, width)

    def action_accept(self) -> None:
        """Answer yes."""
        self.dismiss("now")


class RestartDialog(Dialog[tuple[str, ...]]):
    """Asks whether to stop the server and launch it again; answers with the command, masked as the plan's, or None.

    An empty command means the same as before, or the launcher's own.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("e", "edit", show=False)]
    yes = "Restart it (y)"

    def __init__(self, plan: StopPlan) -> None:
        self.plan = plan
        self.argv = plan.argv
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
        rows += paint_plan(plan, width, command=command)
        return [*rows, *paint_after_restart(plan, width, edited=self.is_edited)]

    def action_other(self) -> None:
        """Edit the command."""
        self.action_edit()

    def action_edit(self) -> None:
        """Edit the command, where an edited one would be the one that is launched."""
        if self.other:
            self.app.push_screen(EditScreen(self.plan, self.argv), self._take)

    def _take(self, argv: tuple[str, ...] | None) -> None:
        if argv is not None:
            self.argv = argv
        self.begin_anew()

    def action_accept(self) -> None:
        """Answer yes, where there is something to say yes to."""
        if self.plan.restartable:
            self.dismiss(None)
        else:
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
