"""The dialogs before the server is stopped or restarted."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from bringup.session.console import StopPlan
from bringup.ui.paint.orders import SIGNALS, paint_plan, paint_signals
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.screens.dialog import Dialog


class StopDialog(Dialog[str]):
    """Asks which signal to send; answers with its name, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "choose(-1)", show=False),
        Binding("down,j", "choose(1)", show=False),
        *(Binding(str(number), f"pick({number})", show=False) for number in range(1, len(SIGNALS) + 1)),
    ]
    yes = "Stop it (y)"

    def __init__(self, plan: StopPlan) -> None:
        super().__init__()
        self.plan = plan
        self.chosen = 0

    def rows(self, width: int) -> list[Row]:
        """Return what is touched."""
        return [(("Stop this server?", "bad"),), (), *paint_plan(self.plan, width)]

    def choices(self) -> list[Row]:
        """Return the signals."""
        return [(), *paint_signals(self.chosen)]

    def action_choose(self, step: int) -> None:
        """Choose the next signal."""
        self.chosen = (self.chosen + step) % len(SIGNALS)
        self.draw()

    def action_pick(self, number: int) -> None:
        """Choose a signal by its number."""
        self.chosen = number - 1
        self.draw()

    def action_accept(self) -> None:
        """Answer with the signal."""
        self.dismiss(SIGNALS[self.chosen].name)


class RestartDialog(Dialog[bool]):
    """Asks whether to stop the server and launch it again."""

    yes = "Restart it (y)"

    def __init__(self, plan: StopPlan) -> None:
        self.plan = plan
        if plan.restartable:
            self.yes = ""
            self.no = "Close"
        super().__init__()

    def rows(self, width: int) -> list[Row]:
        """Return what is touched and what comes after it, or why it cannot be done."""
        rows: list[Row] = [
            (("Restart this server?" if not self.plan.restartable else "This server cannot be restarted here", "bad"),),
            (),
            *paint_plan(self.plan, width),
            (),
        ]
        text = self.plan.restartable or (
            "It is stopped with SIGTERM, its GPU memory is waited for, and the same command is launched again "
            "in the same folder, with the same environment and log."
        )
        return [*rows, *(((line, "text"),) for line in wrapped(text, width, 4))]

    def action_accept(self) -> None:
        """Answer yes, where there is something to say yes to."""
        self.dismiss(None if self.plan.restartable else True)
