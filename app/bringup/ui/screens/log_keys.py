"""The keys of the main screen that are about its log."""

from __future__ import annotations

from textual.screen import Screen
from textual.widgets import Input

from bringup.core.errors import BringupError
from bringup.core.sanitize import clean_text
from bringup.core.words import count
from bringup.session.console import Console
from bringup.session.whole_log import HasWholeLog, WholeLog
from bringup.ui.board import Board
from bringup.ui.logview import LogView
from bringup.ui.picture import Picture
from bringup.ui.screens.found import FoundScreen
from bringup.ui.screens.whole_log import WholeLogScreen
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
            if words and not self.board.matches and isinstance(self.console, HasWholeLog):
                self.missed = words
                self.tell("Enter once more searches the whole log on the host.")
                self.log_view.ask(words)
        self.paint()

    async def _search_whole(self, words: str) -> None:
        console = self.console
        if not isinstance(console, HasWholeLog):
            return
        self.tell("The whole log is searched on the host.")
        try:
            lines = await console.whole_log.search(words)
        except BringupError as error:
            self.tell(str(error))
            return
        if not lines:
            self.tell("Nothing in the whole log matches.")
            return
        heading = f"The newest lines with {clean_text(words)} in the whole log (line:byte:text); enter goes there"
        self.app.push_screen(FoundScreen(heading, lines, words, lambda offset: self._read_at(offset, words=words)))

    def _read_at(self, offset: int | None, *, words: str = "", before: bool = False, ask: bool = False) -> None:
        """Show the whole log from a place on; None is its end."""
        console = self.console
        if console is None or not isinstance(console, HasWholeLog):
            self.tell("There is no log here that could be read as a whole.")
            return
        try:
            screen = WholeLogScreen(console, console.whole_log, self._back_to_end, words=words)
        except BringupError as error:
            self.tell(str(error))
            return
        self.app.push_screen(screen.beginning_at(offset, before=before, ask=ask))

    def _back_to_end(self) -> None:
        """Leave what was opened over this screen, and follow the log."""
        while self.app.screen is not self:
            self.app.pop_screen()
        self.action_resume()

    def action_place(self) -> None:
        """Read the whole log from a place that is asked for."""
        self._read_at(None, ask=True)

    def on_log_pane_before_oldest(self, event: LogPane.BeforeOldest) -> None:
        """Show what is not held here: the beginning of the log, or what was before the oldest line."""
        console = self.console
        if not isinstance(console, HasWholeLog) or not self._has_more():
            return
        if event.beginning:
            self._read_at(0)
        else:
            self.run_worker(self._read_before(console.whole_log), name="before", group="search", exclusive=True)

    def _has_more(self) -> bool:
        """The log has lines before those that are held."""
        lines, log = self.query_one(LogPane).lines, self.console.state.log if self.console is not None else None
        return lines.dropped > 0 or (log is not None and any(how == "skipped" for _, how in log.moves))

    async def _read_before(self, log: WholeLog) -> None:
        """Find the oldest line that is held in the file, and show what is before it."""
        oldest = self.query_one(LogPane).lines.oldest()
        try:
            place = await log.last_place_of(oldest) if oldest else None
        except BringupError as error:
            self.tell(str(error))
            return
        self._read_at(place or 0, before=bool(place))

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
        number = len(text.splitlines())
        told = f"{count(number, 'line')} of the {self.board.panel} {'was' if number == 1 else 'were'} copied"
        self.tell(f"{told}, if the terminal allows it.")

    def tell(self, text: str) -> None:
        """Show a sentence for a moment, where there is one."""
        if text:
            self.notify(clean_text(text), markup=False, timeout=4)
