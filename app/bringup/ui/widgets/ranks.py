"""The ranks as a panel in which one can be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from bringup.ui.keys import bindings
from bringup.ui.widgets.painted import Panel

_MOVES = ("up", "down", "left", "right")


class RankPanel(Panel):
    """The rows of the ranks; up and down choose, enter tells which."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("ranks"),
        *(binding for binding in bindings("log") if binding.id in _MOVES),
    ]

    @dataclass
    class Chosen(Message):
        """A rank was chosen, by its position."""

        position: int

    @dataclass
    class Moved(Message):
        """The choice moved and is to be drawn."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.count = 0
        self.column = 1
        """Ranks in a column: how far left and right move."""
        self.chosen = 0

    def action_move(self, amount: int) -> None:
        """Choose the next or the previous rank."""
        self.chosen = max(0, min(self.count - 1, self.chosen + amount))
        self.post_message(self.Moved())

    def action_aside(self, amount: int) -> None:
        """Choose the rank in the next column."""
        if 0 <= self.chosen + amount * self.column < self.count:
            self.action_move(amount * self.column)

    def action_filter_rank(self) -> None:
        """Tell that the log is to show this rank only."""
        if self.count:
            self.post_message(self.Chosen(self.chosen))
