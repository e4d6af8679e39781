"""The main screen over a recording: the same panels, and a tape deck below them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from bringup.session.replay import READ_ONLY, Replay
from bringup.ui.css import css
from bringup.ui.keys import KEYS, NOT_IN_REPLAY, bindings
from bringup.ui.paint.replay import ROWS, ReplayLook, paint_replay, paint_replay_footer
from bringup.ui.screens.reading import HelpScreen
from bringup.ui.screens.watch import WatchScreen
from bringup.ui.voice import MUTE
from bringup.ui.widgets.painted import Painted

_OFF = frozenset(
    key.action.partition("(")[0]
    for key in KEYS
    if key.scope == "watch" and (key.destructive or key.id in NOT_IN_REPLAY)
)


class ReplayScreen(WatchScreen):
    """Panels over a `Replay`, whose position the keys move."""

    CSS_PATH = css("watch", "replay")
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("replay")]

    def __init__(self, title: str, send: Callable[[str], None]) -> None:
        super().__init__(title, MUTE, send)
        self.board.reserved = ROWS
        self.board.footer = lambda _picture, width, _panel, own: paint_replay_footer(width, own)
        self._seeks = 0

    def compose_more(self) -> ComposeResult:
        """Lay out the tape deck."""
        yield Painted(id="replay")

    @property
    def deck(self) -> Replay | None:
        """The recording; None while it is read."""
        return self.console if isinstance(self.console, Replay) else None

    def flush(self) -> None:
        """Begin the log anew where the position was moved; then as ever."""
        deck = self.deck
        if deck is not None and deck.seeks != self._seeks:
            self._seeks = deck.seeks
            self.log_view.rewind()
        super().flush()

    def paint(self) -> None:
        """Draw all panels and the tape deck."""
        super().paint()
        deck = self.deck
        if deck is None:
            return
        look = ReplayLook(
            position=deck.position,
            end=deck.frames.end,
            speed=deck.speed,
            playing=deck.is_playing,
            marks=deck.marks,
            looked_until=deck.looked_until,
            wall=deck.frames.wall,
            utc_offset=deck.state.utc_offset,
        )
        self.query_one("#replay", Painted).show(paint_replay(look, self.size.width))

    def action_help(self) -> None:
        """Show the keys of a replay."""
        self.app.push_screen(HelpScreen(read_only=READ_ONLY, replay=True))

    def action_replay_toggle(self) -> None:
        """Stop, or go on."""
        if self.deck is not None:
            self.deck.toggle()
            self.flush()

    def action_replay_seek(self, seconds: float) -> None:
        """Move by so many seconds."""
        if self.deck is not None:
            self.deck.seek(self.deck.position + seconds)
            self.flush()

    def action_replay_edge(self, side: int) -> None:
        """Go to the begin (0) or to the end (1)."""
        if self.deck is not None:
            self.deck.seek(self.deck.frames.end if side else 0.0)
            self.flush()

    def action_replay_step(self, direction: int) -> None:
        """Go to the next or the previous change."""
        if self.deck is not None:
            self.tell(self.deck.step(direction))
            self.flush()

    def action_replay_speed(self, direction: int) -> None:
        """Play faster or slower."""
        if self.deck is not None:
            self.deck.faster(direction)
            self.flush()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing can be asked or done here; and what is typed into the search moves nothing."""
        if action in _OFF or (action.startswith("replay_") and isinstance(self.focused, Input)):
            return False
        return super().check_action(action, parameters)
