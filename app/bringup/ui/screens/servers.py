"""The servers that run on the host, to choose which one is watched."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.state import State
from bringup.ui.css import css
from bringup.ui.paint.identity import model_name
from bringup.ui.paint.measures import clock, count
from bringup.ui.paint.row import Row
from bringup.ui.widgets.painted import Painted


class ServersScreen(ModalScreen[Server]):
    """A list; enter chooses, escape leaves all as it is."""

    CSS_PATH = css("dialog")
    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,o", "close", show=False),
        Binding("j", "step(1)", show=False),
        Binding("k", "step(-1)", show=False),
    ]

    def __init__(self, state: State) -> None:
        super().__init__()
        watched = (state.server,) if state.server is not None else ()
        self.servers: tuple[Server, ...] = (*watched, *state.others)
        self._state = state

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical(id="dialog"):
            yield Painted(id="body")
            yield OptionList(*(Option(self._told(server)) for server in self.servers), markup=False)

    def on_mount(self) -> None:
        """Say what this is."""
        row: Row = ((f"{count(len(self.servers), 'server')} on this host", "title"),)
        hint: Row = (("enter", "key"), (" watches it, ", "quiet"), ("esc", "key"), (" goes back", "quiet"))
        body = self.query_one("#body", Painted)
        body.styles.height = 3
        body.show([row, hint, ()])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the server."""
        self.dismiss(self.servers[event.option_index])

    def action_step(self, amount: int) -> None:
        """Move in the list."""
        options = self.query_one(OptionList)
        if amount > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def action_close(self) -> None:
        """Leave all as it is."""
        self.dismiss(None)

    def _told(self, server: Server) -> str:
        mark = "●" if self._state.server is not None and server.pid == self._state.server.pid else " "
        port = f"port {server.port}" if server.port is not None else "no port"
        started = f"since {clock(server.started_at, self._state.utc_offset)}" if server.started_at else ""
        user = f"user {clean_text(server.user)}" if server.user else ""
        words = [f"{mark} {server.pid:>7}", clean_text(server.engine), model_name(server.model), port, user, started]
        return "  ".join(word for word in words if word)
