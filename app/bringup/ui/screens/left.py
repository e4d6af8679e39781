"""What was left in the middle, and what can be done about it: after a lost connection, or a launch that failed."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.widgets import Button

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.session.console import StopPlan, Unfinished
from bringup.session.left_over import has_failed, headline
from bringup.ui.editing import difference
from bringup.ui.paint.difference import paint_difference
from bringup.ui.paint.orders import field, text_rows
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.screens.dialog import Dialog
from bringup.ui.screens.editor import EditScreen

Answer = Literal["launch", "discard"]


class LeftDialog(Dialog[Answer]):
    """Says what happened; answers with what is to be done, or None to leave it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "other", show=False),
        Binding("e", "edit", show=False),
        # It may stand there for long: what leaves the console leaves it from here, too.
        Binding("q,ctrl+q,ctrl+c", "app.leave", show=False, id="quit"),
    ]

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
        super().__init__()
        self.node = node
        self.left = left
        self.why = why
        self.beside = beside
        self.argv = argv
        """The command that failed, masked; then the one that was edited."""
        self.is_edited = False
        self._failed_plan = plan if plan is not None and plan.argv else None
        self._read_only = read_only
        self._is_settled = False
        self._offer()

    @property
    def plan(self) -> StopPlan | None:
        """The plan of the restart that failed, where another command can be launched."""
        return self._failed_plan if self.yes else None

    def _offer(self) -> None:
        can = self.left.can if self.left is not None and not self._read_only else ()
        self.yes = "Launch it again (y)" if "launch" in can and self.beside is None else ""
        self.other = "Forget it (f)" if "discard" in can else ""
        self.no = "Leave it (esc)" if can else "Close (esc)"

    def renew(self, left: Unfinished | None, beside: Server | None) -> None:
        """Say what there is now; where something else can be done than before, nothing is heard for a moment."""
        before = (self.yes, self.other, self.no)
        self.left, self.beside = left, beside
        self._offer()
        if not self.is_mounted:
            return
        if (self.yes, self.other, self.no) == before:
            self.draw()
            return
        self._lay_buttons()
        self.begin_anew()

    def _lay_buttons(self) -> None:
        row = self.query_one("#buttons")
        for name, label in (("no", self.no), ("other", self.other), ("yes", self.yes)):
            known = row.query(f"#{name}").results(Button)
            button = next(iter(known), None)
            if button is None and label:
                after = row.query("#other, #no").last()
                row.mount(Button(label, id=name, compact=True), after=after)
            elif button is not None and label:
                button.label = label
            elif button is not None:
                button.remove()

    def settle(self) -> None:
        """Close it, for there is nothing left to be seen to; as soon as nothing stands above it."""
        self._is_settled = True
        if self.app.screen is self:
            self.dismiss(None)

    def on_screen_resume(self) -> None:
        """Nothing stands above it any more."""
        if self._is_settled:
            self.dismiss(None)

    def rows(self, width: int) -> list[Row]:
        """Return what happened, what runs now, and what each answer does."""
        left = self.left
        failed = f"The {left.action if left is not None else 'restart'} failed"
        title = failed if self.why or left is None else headline(left)
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
            became = "failed" if has_failed(left) else "was cut off"
            return f"A {left.action} of {left.about} {became} {duration(left.age)} ago{kept}."
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
