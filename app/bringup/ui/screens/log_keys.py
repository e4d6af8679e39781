"""The keys of the main screen that are about its log."""

from __future__ import annotations

from textual.screen import Screen
from textual.widgets import Input

from bringup.core.sanitize import clean_text
from bringup.ui.board import Board
from bringup.ui.logview import LogView
from bringup.ui.picture import Picture
from bringup.ui.widgets.log import LogPane


class LogKeys(Screen[None]):
    """A screen with a log that is searched, followed, wrapped and copied."""

    board: Board
    log_view: LogView
    picture: Picture | None

    def paint(self) -> None:
        """Draw all panels."""
        raise NotImplementedError

    def action_search(self) -> None:
        """Open the line for the search."""
        self.log_view.ask()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search for what was typed."""
        self.tell(self.log_view.look_for(event.value))
        self.paint()

    def action_next_match(self, step: int) -> None:
        """Go to the next match."""
        self.tell(self.log_view.next_match(step))
        self.paint()

    def action_next_error(self, step: int) -> None:
        """Go to the next error line."""
        self.tell(self.log_view.next_error(step))
        self.paint()

    def action_cause(self) -> None:
        """Go to the line that caused the failure."""
        self.tell(self.log_view.cause(self.picture))
        self.paint()

    def action_autoscroll(self) -> None:
        """Stop or go on following."""
        self.log_view.toggle()
        self.paint()

    def action_resume(self) -> None:
        """Follow the end of the log."""
        self.query_one(LogPane).action_resume()
        self.paint()

    def action_wrap(self) -> None:
        """Break long lines or cut them."""
        self.log_view.wrap()
        self.paint()

    def action_copy(self) -> None:
        """Copy what the focused panel shows."""
        self.app.copy_to_clipboard(text := self.board.visible_text())
        self.tell(f"{len(text.splitlines())} lines of the {self.board.panel} were copied, if the terminal allows it.")

    def tell(self, text: str) -> None:
        """Show a sentence for a moment, where there is one."""
        if text:
            self.notify(clean_text(text), markup=False, timeout=4)
