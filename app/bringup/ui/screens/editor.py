"""A small editor for the command of a restart: text as a shell reads it, and below it what that changes."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, TextArea

from bringup.core.errors import UsageError
from bringup.core.redact import STAND_IN
from bringup.session.console import StopPlan, unmask
from bringup.ui.css import css
from bringup.ui.editing import difference, to_argv, to_text
from bringup.ui.paint.difference import is_changed, paint_difference
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.widgets.painted import Painted

_AROUND = 8
_LEAST_TEXT = 4
_LONGEST_CHANGES = 10


class EditScreen(ModalScreen[tuple[str, ...]]):
    """Edits a command line; answers with its words, secrets still masked where they were not retyped, or None."""

    CSS_PATH = css("dialog")
    AUTO_FOCUS = "#command"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "refuse", show=False, priority=True),
        Binding("ctrl+s", "accept", show=False, priority=True),
        Binding("ctrl+home", "edge(False)", show=False, priority=True),
        Binding("ctrl+end", "edge(True)", show=False, priority=True),
    ]

    def __init__(self, plan: StopPlan, argv: tuple[str, ...]) -> None:
        super().__init__()
        self.plan = plan
        self._begun = argv

    def compose(self) -> ComposeResult:
        """Lay out text, difference and buttons."""
        with Vertical(id="dialog"):
            yield Painted(id="body")
            yield TextArea(to_text(self._begun), id="command", soft_wrap=True, show_line_numbers=False)
            yield Painted(id="changes")
            with Horizontal(id="buttons"):
                yield Button("Cancel (esc)", id="no", compact=True)
                yield Button("Use it (ctrl+s)", id="yes", compact=True)

    def on_mount(self) -> None:
        """Say what this is and what is changed, at the end of the text: that is where flags are added."""
        self.action_edge(last=True)
        self.draw()

    def on_resize(self) -> None:
        """Divide the room anew."""
        self.draw()

    def on_text_area_changed(self) -> None:
        """Show what changed."""
        self.draw()

    def draw(self) -> None:
        """Paint the rows around the text, and give the text the rest."""
        width, height = min(76, self.app.size.width - _AROUND), self.app.size.height
        body, changes = self._head(width), self._changes(width, max(3, min(_LONGEST_CHANGES, height // 4)))
        for name, rows in (("#body", body), ("#changes", changes)):
            painted = self.query_one(name, Painted)
            painted.styles.height = len(rows)
            painted.show(rows)
        text = self.query_one("#command", TextArea)
        room = height - len(body) - len(changes) - 4
        text.styles.height = max(_LEAST_TEXT, min(text.wrapped_document.height + 1, room))
        self.call_after_refresh(text.scroll_cursor_visible)

    def read(self) -> tuple[str, ...]:
        """Return the words of the text; raises UsageError for what is no command line, or no secret that is known."""
        argv = to_argv(self.query_one("#command", TextArea).text)
        unmask(self.plan.server.argv, argv)
        return argv

    def action_edge(self, last: bool) -> None:
        """Go to the beginning or the end of the text."""
        text = self.query_one("#command", TextArea)
        text.move_cursor(text.document.end if last else (0, 0))

    def action_refuse(self) -> None:
        """Leave the command as it was."""
        self.dismiss(None)

    def action_accept(self) -> None:
        """Answer with the command, where it can be read."""
        try:
            argv = self.read()
        except UsageError:
            # Why it cannot be read stands below the text, above the buttons.
            self.app.bell()
        else:
            self.dismiss(argv)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer as the button says."""
        if event.button.id == "yes":
            self.action_accept()
        else:
            self.action_refuse()

    def _head(self, width: int) -> list[Row]:
        text = "Words are read as a shell reads them: quote blanks; a line break counts as a blank."
        if any(STAND_IN in word for word in self._begun):
            text += f" {STAND_IN} keeps the secret that is there."
        return [(("Edit the command", "title"),), *(((line, "quiet"),) for line in wrapped(text, width, 2)), ()]

    def _changes(self, width: int, most: int) -> list[Row]:
        try:
            changes = difference(self.plan.argv, self.read())
        except UsageError as error:
            return [(), *(((line, "bad"),) for line in wrapped(str(error), width, most))]
        if not is_changed(changes):
            return [(), (("Nothing is changed yet.", "quiet"),)]
        return [(("Changed:", "strong"),), *paint_difference(changes, width, most=most)]
