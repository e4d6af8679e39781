"""What the keys do to the log: search, errors, one rank only, the cause; every method returns what is to be said."""

from __future__ import annotations

from textual.widgets import Input

from bringup.core.verdict import RankView
from bringup.core.words import count
from bringup.ui.board import Board
from bringup.ui.loglines import ERROR, pattern_for, pattern_of_rank
from bringup.ui.picture import Picture
from bringup.ui.widgets.log import LogPane

_LONGEST_SEARCH = 200


class LogView:
    """Drives the log pane and the line for the search."""

    def __init__(self, pane: LogPane, field: Input, board: Board) -> None:
        self._pane = pane
        self._field = field
        self._board = board

    def extend(self, lines: list[bytes], open_line: bytes) -> int:
        """Add lines, and count the new ones that match; return how many lines are new, a bar that moved among them."""
        new = len(lines) + (open_line != self._pane.open_line)
        before = len(self._pane.lines)
        dropped = self._pane.extend(lines, open_line)
        search = self._pane.search
        if search is not None:
            known = 0 if dropped else self._board.matches
            self._board.matches = known + self._pane.lines.count(search, 0 if dropped else before)
        return new

    def ask(self, words: str = "") -> None:
        """Show the line for the search, with words that stand in it already."""
        self._field.value = words
        self._field.display = True
        self._field.focus()

    def look_for(self, words: str) -> str:
        """Mark what was typed and go to the newest match."""
        self._field.display = False
        self._pane.focus()
        words = words.strip()[:_LONGEST_SEARCH]
        self._board.search = words
        self._pane.search = pattern_for(words) if words else None
        self._board.matches = self._pane.lines.count(self._pane.search) if self._pane.search is not None else 0
        self._pane.forget_strips()
        if self._pane.search is None:
            return ""
        if not self._board.matches:
            return f"Nothing in the {count(self._pane.lines.held, 'line')} held here matches."
        return self.next_match(-1)

    def next_match(self, step: int) -> str:
        """Go to the next or the previous match."""
        if self._pane.search is None:
            return "Nothing is searched for; / begins a search."
        if self._pane.seek(self._pane.search, step):
            return ""
        return "No match below." if step > 0 else "No match above."

    def next_error(self, step: int) -> str:
        """Go to the next or the previous error line."""
        if self._pane.following and step > 0:
            # Nothing is below the end: the first error is what a reader who just came wants to see.
            self._pane.action_top()
            self._pane.here = None
            found = self._pane.lines.find(ERROR, 0, 1)
            if found is not None:
                self._pane.go_to(found)
                return ""
            self._pane.action_resume()
            return "No error line is in the log."
        if self._pane.seek(ERROR, step):
            return ""
        return "No error line below." if step > 0 else "No error line above."

    def cause(self, picture: Picture | None) -> str:
        """Go to the line that the verdict names as the cause."""
        cause = picture.verdict.cause if picture is not None else None
        if cause is None or not cause.line:
            return "The verdict names no line as a cause."
        if self._pane.lines.filtered:
            self._all_ranks()
        found = self._pane.lines.find_text(cause.line, cause.line_number or 0)
        if found is None:
            number = f"Line {cause.line_number:,}" if cause.line_number else "That line"
            return f"{number} is not among the {count(self._pane.lines.held, 'line')} held here."
        self._pane.go_to(found)
        self._pane.focus()
        return ""

    def only(self, view: RankView, name: str, *, alone: bool) -> str:
        """Show the lines of one rank only; chosen again, all of them."""
        if self._board.filtered == view.rank:
            self._all_ranks()
            return ""
        pattern = pattern_of_rank(view.labels)
        if alone or pattern is None:
            return f"The lines of {name} carry no label, so they cannot be told apart."
        self._board.filtered, self._board.filter_name = view.rank, name
        self._pane.narrow(pattern)
        return ""

    def back(self) -> bool:
        """End the search if there is one, else show the lines of all ranks; False where there was nothing to undo."""
        if self._field.display:
            self._field.display = False
            self._pane.focus()
        elif self._pane.search is not None:
            self.look_for("")
        elif self._board.filtered is not None:
            self._all_ranks()
        else:
            return False
        return True

    def toggle(self) -> None:
        """Stop following, or go on with it."""
        if self._pane.following:
            self._pane.pause()
        else:
            self._pane.action_resume()

    def wrap(self) -> None:
        """Break long lines, or cut them."""
        self._pane.wrapped = not self._pane.wrapped
        self._pane.forget_strips()

    def rewind(self) -> None:
        """Begin anew with the lines, but not with the search and the filter."""
        self._board.matches = 0
        self._pane.rewind()

    def clear(self) -> None:
        """Forget all lines: another server is watched."""
        self._all_ranks()
        self._pane.reset()

    def _all_ranks(self) -> None:
        self._board.filtered, self._board.filter_name = None, ""
        self._pane.narrow(None)
