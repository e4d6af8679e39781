"""What was left in the middle, and what can be done about it: after a lost connection, or a launch that failed."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.binding import Binding, BindingType

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.session.console import StopPlan, Unfinished
from bringup.ui.editing import difference
from bringup.ui.paint.difference import paint_difference
from bringup.ui.paint.orders import field, text_rows
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.screens.dialog import Dialog
from bringup.ui.screens.editor import EditScreen

Answer = Literal["launch", "discard"]


class LeftDialog(Dialog[Answer]):
    """Says what happened; answers with what is to be done, or None to leave it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f", "other", show=False), Binding("e", "edit", show=False)]

    def __init__(
        self,
        node: str,
        left: Unfinished | None,
        *,
        why: str = "",
        plan: StopPlan | None = None,
        argv: tuple[str, ...] = (),
        beside: Server | None = None,
        read_only: bool = False,
    ) -> None:
        can = left.can if left is not None and not read_only else ()
        self.yes = "Launch it now (y)" if "launch" in can and beside is None else ""
        self.other = "Forget it (f)" if "discard" in can else ""
        self.no = "Leave it (esc)" if can else "Close (esc)"
        super().__init__()
        self.node = node
        self.left = left
        self.why = why
        self.beside = beside
        self.plan = plan if plan is not None and plan.argv and self.yes else None
        """The plan of the restart that failed, where another command can be launched."""
        self.argv = argv
        """The command that failed, masked; then the one that was edited."""
        self.is_edited = False

    def rows(self, width: int) -> list[Row]:
        """Return what happened, what runs now, and what each answer does."""
        left = self.left
        action = left.action if left is not None else "restart"
        title = f"The {action} failed" if self.why else f"A {action} was cut off"
        rows: list[Row] = [((title, "bad"),), (), field("host", ((clean_text(self.node), "strong"),))]
        if self.why:
            rows += [(), *(((line, "strong"),) for line in wrapped(clean_text(self.why), width, 8))]
        if left is not None:
            now = self._outlook(left)
            began = [] if self.why else _began(left, width)
            rows += [*began, (), *(((line, "text"),) for line in wrapped(now, width, 8))]
        if self.beside is not None and left is not None:
            port = f" on port {self.beside.port}" if self.beside.port is not None else ""
            now = f"Another server runs here now: PID {self.beside.pid}{port}. Nothing is launched beside it."
            rows += [(), *(((line, "slow"),) for line in wrapped(now, width, 2))]
        if self.is_edited and self.plan is not None:
            changes = paint_difference(difference(self.plan.argv, self.argv), width)
            told = "Edited, against the command that ran:" if changes else "The command that ran is launched again."
            rows += [(), ((told, "strong"),), *changes]
        return [*rows, *self._answers(width)]

    def _outlook(self, left: Unfinished) -> str:
        if self.beside is not None:
            # What the sentence says of servers that run is about those two only.
            kept = "; what it was launched with is still kept on the host" if left.kept else ""
            return f"A {left.action} of {left.about} was cut off {duration(left.age)} ago{kept}."
        return f"{left.outlook[0].upper()}{left.outlook[1:]}." if self.why else left.sentence

    def _answers(self, width: int) -> list[Row]:
        rows: list[Row] = []
        if self.yes:
            what = "the edited command" if self.is_edited else "it"
            rows += text_rows("y", f"launches {what} with what was kept on the host", width, 2)
        if self.plan is not None:
            rows += text_rows("e", "edits the command first", width, 1)
        if self.other:
            rows += text_rows("f", "removes what was kept of it; no process is touched", width, 2)
        return [(), *rows] if rows else []

    def action_edit(self) -> None:
        """Edit the command that failed."""
        if self.plan is not None:
            self.app.push_screen(EditScreen(self.plan, self.argv or self.plan.argv), self._take)

    def _take(self, argv: tuple[str, ...] | None) -> None:
        if argv is not None:
            self.is_edited = self.is_edited or argv != self.argv
            self.argv = argv
        self.begin_anew()

    def action_accept(self) -> None:
        """Launch it."""
        if self.yes:
            self.dismiss("launch")

    def action_other(self) -> None:
        """Forget it."""
        if self.other:
            self.dismiss("discard")


def _began(left: Unfinished, width: int) -> list[Row]:
    return text_rows("begun by", left.who, width, 1) if left.who else []
