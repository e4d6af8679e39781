"""What only the operator can answer while a connection is made: a host key, a password, a code."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input

from bringup.core.sanitize import clean_text
from bringup.session.console import Question
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.screens.dialog import Dialog
from bringup.ui.widgets.painted import Painted

ACCEPTED = "yes"
_TITLES = {
    "host-key": "This host is not known yet",
    "password": "A password is asked for",
    "passphrase": "A key needs its passphrase",
    "code": "A code is asked for",
}
_SECRET = ("password", "passphrase")


class HostKeyDialog(Dialog[str]):
    """Asks whether an unknown host key is the right one; answers "yes" or None."""

    yes = "Accept it (y)"

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def rows(self, width: int) -> list[Row]:
        """Return the question with the fingerprint."""
        return _question(self.question, width)

    def action_accept(self) -> None:
        """Accept the key."""
        self.dismiss(ACCEPTED)


class SecretDialog(Dialog[str]):
    """Asks for a password, passphrase or code; answers with it, or None."""

    AUTO_FOCUS = "#answer"

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        with Vertical(id="dialog"):
            with VerticalScroll(id="scroll", can_focus=False):
                yield Painted(id="body")
            yield Painted(id="choices")
            yield Input(password=self.question.kind in _SECRET, id="answer")
            with Horizontal(id="buttons"):
                yield Painted(id="more")
                yield Button("Cancel", id="no", compact=True)

    def listen(self) -> None:
        """Hear every key at once: an answer confirms nothing that could be regretted."""
        self.listens_from = 0.0

    def rows(self, width: int) -> list[Row]:
        """Return the question."""
        return _question(self.question, width)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what was typed."""
        self.dismiss(event.value)


def dialog_for(question: Question) -> Dialog[str]:
    """Return the dialog that asks a question."""
    return HostKeyDialog(question) if question.kind == "host-key" else SecretDialog(question)


def _question(question: Question, width: int) -> list[Row]:
    rows: list[Row] = [((_TITLES.get(question.kind, "A question"), "slow"),), ()]
    rows += [((line, "text"),) for line in wrapped(clean_text(question.text), width, 5)]
    if question.detail:
        rows += [(), *(((line, "strong"),) for line in wrapped(clean_text(question.detail), width, 5))]
    return rows
