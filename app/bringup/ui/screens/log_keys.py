"""The keys of the main screen that are about its log."""

from __future__ import annotations

from textual.screen import Screen
from textual.widgets import Input

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.session.console import Console
from bringup.session.whole_log import WholeLog
from bringup.ui.board import Board
from bringup.ui.logview import LogView
from bringup.ui.picture import Picture
from bringup.ui.screens.found import FoundScreen
from bringup.ui.widgets.log import LogPane


class LogKeys(Screen[None]):
    """A screen with a log that is searched, followed, wrapped and copied."""

    board: Board
    log_view: LogView
    picture: Picture | None
    console: Console | None
    missed = ""
    """Words that are not in the lines held here; the same words again are searched for in the whole file."""

    def paint(self) -> None:
        """Draw all panels."""
        raise NotImplementedError

    def action_search(self) -> None:
        """Open the line for the search."""
        self.log_view.ask()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search for what was typed; what is not held here is offered to be searched for on the host."""
        words, before = event.value.strip(), self.missed
        self.missed = ""
        if words and words == before:
            self.log_view.back()
            self.run_worker(self._search_whole(words), name="search", group="search", exclusive=True)
        else:
            self.tell(self.log_view.look_for(event.value))
            if words and not self.board.matches and isinstance(self.console, WholeLog):
                self.missed = words
                self.tell("Enter once more searches the whole log on the host.")
                self.log_view.ask(words)
        self.paint()

    async def _search_whole(self, words: str) -> None:
        console = self.console
        if not isinstance(console, WholeLog):
            return
        self.tell("The whole log is searched on the host.")
        try:
            lines = await console.search_log(words)
        except BringupError as error:
            self.tell(str(error))
            return
        if not lines:
            self.tell("Nothing in the whole log matches.")
            return
        heading = f"The newest lines with {clean_text(words)} in the whole log (line:byte:text)"
        self.app.push_screen(FoundScreen(heading, lines, words=words))

    async def _show_beginning(self, console: WholeLog) -> None:
        try:
            lines = await console.log_beginning()
        except BringupError as error:
            self.tell(str(error))
            return
        self.app.push_screen(FoundScreen("The first lines of the log", lines))

    def on_log_pane_before_oldest(self) -> None:
        """Show the beginning of the log, which is not held here any more."""
        if isinstance(self.console, WholeLog):
            self.run_worker(self._show_beginning(self.console), name="beginning", group="search", exclusive=True)

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
