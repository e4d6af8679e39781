"""What was left in the middle, and what can be done about it: after a lost connection, or a launch that failed."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.widgets import Button

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.words import duration
from bringup.session.console import StopPlan, Unfinished
from bringup.session.left_over import has_failed, headline, under_way
from bringup.ui.editing import difference
from bringup.ui.paint.difference import paint_difference
from bringup.ui.paint.orders import field, text_rows
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.screens.dialog import Dialog
from bringup.ui.screens.editor import EditScreen

Answer = Literal["launch", "discard", "end"]


class LeftDialog(Dialog[Answer]):
    """Says what happened; answers with what is to be done, or None to leave it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "other", show=False),
        Binding("e", "edit", show=False),
        Binding("K", "end", show=False),
        # It may stand there for long: what leaves the console leaves it from here, too.
        Binding("q,ctrl+q,ctrl+c", "app.leave", show=False, id="quit"),
    ]

    missed = frozenset({"y", "e", "f", "K"})

    def __init__(
        self,
        node: str,
        left: Unfinished | None,
        *,
        why: str = "",
        plan: StopPlan | None = None,
        argv: tuple[str, ...] = (),
        beside: Server | None = None,
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
        self._offer()

    @property
    def plan(self) -> StopPlan | None:
        """The plan of the restart that failed, where another command can be launched."""
        return self._failed_plan if self.yes else None

    @property
    def _differs(self) -> bool:
        """What would be launched is another command than the one that ran."""
        return self._failed_plan is not None and self.argv not in ((), self._failed_plan.argv)

    def _offer(self) -> None:
        can = self.left.can if self.left is not None else ()
        self.yes = ""
        if self.left is not None and "launch" in can and self.beside is None:
            self.yes = "Wait for it (y)" if self.left.at_work else f"Launch it{self.left.again} (y)"
        self.other = "Forget it (f)" if "discard" in can else ""
        self.no = "Leave it (esc)" if can else "Close (esc)"

    def renew(
        self,
        left: Unfinished | None,
        beside: Server | None,
        plan: StopPlan | None = None,
        argv: tuple[str, ...] = (),
    ) -> None:
        """Say what there is now; where something else can be done than before, nothing is heard for a moment."""
        before = (self.yes, self.other, self.no)
        if self._failed_plan is None and plan is not None and plan.argv:
            self._failed_plan, self.argv = plan, argv
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
                # The new label may be wider, and would be cut to the width of the old one.
                button.refresh(layout=True)
            elif button is not None:
                button.remove()

    def rows(self, width: int) -> list[Row]:
        """Return what happened, what runs now, and what each answer does."""
        left = self.left
        failed = f"The {left.action if left is not None else 'restart'} failed"
        waits = left is not None and left.step == "undecided"
        title = failed if left is None or (self.why and not waits) else headline(left)
        rows: list[Row] = [((title, "bad"),), (), field("host", ((clean_text(self.node), "strong"),))]
        if self.why:
            rows += [(), *(((line, "strong"),) for line in wrapped(clean_text(self.why), width, 8))]
        if left is not None:
            began = [] if self.why else _began(left, width)
            # The question says how it is, as long as that is so.
            now = "" if waits and self.why and not left.alive and left.new is None else self._outlook(left)
            rows += [*began, *([()] if now else []), *(((line, "text"),) for line in wrapped(now, width, 8) if now)]
        if self.beside is not None and left is not None:
            port = f" on port {self.beside.port}" if self.beside.port is not None else ""
            now = f"Another server runs here now: PID {self.beside.pid}{port}. Nothing is launched beside it."
            rows += [(), *(((line, "slow"),) for line in wrapped(now, width, 2))]
        if self.plan is not None and (self.is_edited or self._differs):
            changes = paint_difference(difference(self.plan.argv, self.argv), width)
            which = "Edited" if self.is_edited else "The command that failed"
            told = f"{which}, against the command that ran:" if changes else "The command that ran is launched again."
            rows += [(), ((told, "strong"),), *changes]
        return [*rows, *self._answers(width)]

    def _outlook(self, left: Unfinished) -> str:
        if self.beside is not None:
            # What the sentence says of servers that run is about those two only.
            kept = "; what it was launched with is still kept on the host" if left.kept else ""
            became = "failed" if has_failed(left) else "was cut off"
            return f"A {left.action} of {left.about} {became} {duration(left.age)} ago{kept}."
        if not self.why:
            return under_way(left) if left.busy else left.sentence
        # Its last words stand above.
        outlook = replace(left, said="").outlook if left.said and left.said in self.why else left.outlook
        return f"{outlook[0].upper()}{outlook[1:]}."

    def _answers(self, width: int) -> list[Row]:
        rows: list[Row] = []
        if self.yes:
            what = "the edited command" if self._differs else "it"
            all_the_same = " all the same" if self.left is not None and self.left.starters else ""
            does = f"launches {what}{all_the_same}, with what was kept on the host"
            if self.left is not None and self.left.own:
                does = f"runs {self.left.own}{all_the_same}"
            if self.left is not None and self.left.at_work:
                does = "waits for what was begun: it is not run a second time"
            rows += text_rows("y", does, width, 2)
        if self.plan is not None:
            rows += text_rows("e", "edits the command first", width, 1)
        rows += self._rest(width)
        if self.other:
            rows += text_rows("f", "removes what was kept of it; no process is touched", width, 2)
        return [(), *rows] if rows else []

    def _rest(self, width: int) -> list[Row]:
        """How what still runs of the old server is ended: a launch beside it is not offered."""
        if self._may_end:
            return text_rows("K", "ends what still runs of it; asks first", width, 1)
        left = self.left
        if left is None or not left.kept or left.busy or not left.alive or left.untouched or left.server in left.alive:
            return []
        return text_rows("o", "on the main screen ends what lives on; then it can be launched again", width, 2)

    @property
    def _may_end(self) -> bool:
        """A stop of the rest would take the place of what was cut off, and lose what a launch needs."""
        left = self.left
        if left is None or left.busy or left.untouched or not left.alive:
            return False
        return self.beside is None if left.server in left.alive else not left.kept

    def action_end(self) -> None:
        """End what still runs, after another question."""
        if self._may_end:
            self.dismiss("end")

    def action_edit(self) -> None:
        """Edit the command that failed."""
        if self.plan is not None:
            self.stand_back()
            self.app.push_screen(EditScreen(self.plan, self.argv or self.plan.argv), self._take)
        else:
            self.note(f"No command can be edited here. {clean_text(self._fixed)}")

    @property
    def _fixed(self) -> str:
        """Why no command can be edited, and where it is edited instead where there is such a place."""
        left = self.left
        if left is None or not self.yes:
            return "Nothing can be launched from here now."
        if left.own:
            return f"{left.own} starts it: its command is edited where that has it."
        if left.respawns:
            return "What had started it starts it again: its command is edited there."
        return "The host has not told the command that it keeps."

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
