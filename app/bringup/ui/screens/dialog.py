"""A dialog: a title, painted rows, buttons; the focus is on the harmless one, and typed-ahead is not heard."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button

from bringup.ui.css import css
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.sizes import SMALLEST
from bringup.ui.widgets.painted import Painted

DEAF_FOR = 0.4
"""Seconds after it appeared in which a dialog hears no key: what was typed before it could be read."""
_REFUSING = ("escape", "n", "q", "ctrl+c")
Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer], Generic[Answer]):
    """Asks something; `escape` and `n` always mean no."""

    CSS_PATH = css("dialog")
    AUTO_FOCUS = "#no"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "refuse", "cancel", show=False),
        Binding("y", "accept", "yes", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("up,k", "line(-1)", show=False),
        Binding("down,j", "line(1)", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]
    yes = "Yes"
    no = "Cancel"
    other = ""
    """A third button, where there is something else to do."""
    width = 76
    """Cells that the rows may take where the screen is wide enough."""
    missed: ClassVar[frozenset[str]] = frozenset({"y"})
    """Keys of which it is said that they came too early: what follows them was meant for what they would have shown."""

    def __init__(self) -> None:
        super().__init__()
        self.listens_from: float | None = None
        """Time (as events carry it) from which keys are heard; None until the dialog is on the screen."""
        self._is_settled = False
        self._note = ""

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        with Vertical(id="dialog"):
            with VerticalScroll(id="scroll", can_focus=False):
                yield Painted(id="body")
            yield Painted(id="choices")
            with Horizontal(id="buttons"):
                yield Painted(id="more")
                yield Button(self.no, id="no", compact=True)
                if self.other:
                    yield Button(self.other, id="other", compact=True)
                if self.yes:
                    yield Button(self.yes, id="yes", compact=True)

    def on_mount(self) -> None:
        """Draw it, and begin to listen a moment after it is seen."""
        self.draw()
        self.call_after_refresh(self.listen)

    def listen(self) -> None:
        """Hear keys from a moment after now."""
        self.listens_from = events.Event().time + DEAF_FOR

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Close it with an answer; a second one, to a dialog that is closed already, is none."""
        # Textual takes away whatever screen is on top by then.
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def settle(self) -> None:
        """Close it, for there is nothing left to be asked; as soon as nothing stands above it."""
        self._is_settled = True
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        """Nothing stands above it any more."""
        if self._is_settled:
            self.dismiss(None)

    def begin_anew(self) -> None:
        """Show the beginning of what may be different now, and be deaf for a moment again."""
        self.listens_from = None
        self._note = ""
        self.query_one("#dialog").visible = True
        self.draw()
        self.query_one("#scroll").scroll_home(animate=False)
        self.query_one("#no").focus()
        self.call_after_refresh(self.listen)

    def stand_back(self) -> None:
        """Show nothing until it begins anew: what is pushed above it may be smaller, and has buttons of its own."""
        self.query_one("#dialog").visible = False

    def hears(self, event: events.Key) -> bool:
        """Tell whether a key was pressed after the dialog could be read; no can be said to one that cannot be."""
        if self.listens_from is None or event.time < self.listens_from:
            self._miss(event)
            return False
        return self.fits or event.key in _REFUSING

    def _miss(self, event: events.Key) -> None:
        """Be deaf for longer: whoever types on has not read what is asked; and tell what was not heard."""
        if self.listens_from is not None and event.key not in _REFUSING:
            self.listens_from = max(self.listens_from, event.time + DEAF_FOR)
        if event.key in self.missed and self.is_mounted:
            self.note(f"{event.key} came before this could be read, and did nothing: press it again.")

    def note(self, text: str) -> None:
        """Say below the body what became of a key; what is typed on it is not heard for a moment."""
        self._note = text
        if self.listens_from is not None:
            self.listens_from = max(self.listens_from, events.Event().time + DEAF_FOR)
        self.draw()

    @property
    def fits(self) -> bool:
        """There is room to read what it asks."""
        return self.app.size.width >= SMALLEST[0] and self.app.size.height >= SMALLEST[1]

    def on_resize(self) -> None:
        """Draw the rows to the new width."""
        self.draw()

    def draw(self) -> None:
        """Paint the body."""
        fits = self.fits
        choices = [*self.choices(), *self._noted()] if fits else []
        needed = f"To be asked, make the terminal {SMALLEST[0]} x {SMALLEST[1]}."
        asked: list[Row] = [((line, "text"),) for line in wrapped(needed, max(8, self.inner), 4)]
        body = self.rows(self.inner) if fits else asked
        for button in self.query(Button):
            button.display = fits or button.id == "no"
        for name, rows in (("#body", body), ("#choices", choices)):
            painted = self.query_one(name, Painted)
            painted.styles.height = len(rows)
            painted.show(rows)
        room = self.app.size.height - len(choices) - 6
        self.query_one("#scroll").styles.height = min(len(body), max(3, room))
        rest: Row = (("PgDn", "key"), (" more", "quiet")) if len(body) > max(3, room) else ()
        self.query_one("#more", Painted).show([rest])

    @property
    def inner(self) -> int:
        """Cells that a row may take."""
        return min(self.width, self.app.size.width - 8)

    def rows(self, width: int) -> list[Row]:
        """Return the rows of the body."""
        raise NotImplementedError

    def choices(self) -> list[Row]:
        """Return rows that stay in view below the body, however long that is."""
        return []

    def _noted(self) -> list[Row]:
        return [(), *(((line, "slow"),) for line in wrapped(self._note, self.inner, 3))] if self._note else []

    def action_page(self, step: int) -> None:
        """Scroll the body where it is longer than the screen."""
        scroll = self.query_one("#scroll")
        self.action_line(step * max(1, scroll.size.height - 1))

    def action_line(self, step: int) -> None:
        """Scroll the body by rows."""
        # At once: the next key goes on from where this one left it.
        self.query_one("#scroll").scroll_relative(y=step, animate=False, immediate=True)

    def action_refuse(self) -> None:
        """Answer no."""
        self.dismiss(None)

    def action_accept(self) -> None:
        """Answer yes."""
        raise NotImplementedError

    def action_other(self) -> None:
        """Do what the third button says."""
        raise NotImplementedError

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer as the button says."""
        if event.button.id == "yes":
            self.action_accept()
        elif event.button.id == "other":
            self.action_other()
        else:
            self.action_refuse()
