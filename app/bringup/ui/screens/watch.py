"""The main screen: flushes the session to the panels twenty times a second at most, and turns keys into commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input

from bringup.core.ranks import name_of
from bringup.session.console import Console
from bringup.session.retries import HasRetries
from bringup.ui.announce import Announcer
from bringup.ui.board import Board
from bringup.ui.css import css
from bringup.ui.diagnosing import Diagnosing
from bringup.ui.each_node import EachNode
from bringup.ui.keys import bindings
from bringup.ui.logview import LogView
from bringup.ui.picture import Picture
from bringup.ui.pulse import Pace, Pulse
from bringup.ui.reporting import Reporting
from bringup.ui.screens.node_keys import NodeKeys
from bringup.ui.screens.reading import EvidenceScreen, HelpScreen
from bringup.ui.screens.servers import Choice, ServersScreen
from bringup.ui.sizes import SMALLEST
from bringup.ui.voice import Voice
from bringup.ui.widgets.log import LogPane
from bringup.ui.widgets.painted import Painted, Panel
from bringup.ui.widgets.ranks import RankPanel

FLUSHES_PER_SECOND = 20
_PANELS = ("verdict", "phases", "ranks", "gpus", "log")


class WatchScreen(NodeKeys):
    """Panels over one session; owns no IO."""

    CSS_PATH = css("watch")
    AUTO_FOCUS = "#log"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("watch")]

    @dataclass
    class Retry(Message):
        """The operator wants to connect again."""

    def __init__(self, title: str, voice: Voice, send: Callable[[str], None]) -> None:
        super().__init__()
        self.console: Console | None = None
        self.picture: Picture | None = None
        self.host_title = title
        self.board = Board(self, title)
        self.each = EachNode(self, title, lambda: self.console, self.paint)
        self.diagnosing = Diagnosing(self, title, self.paint)
        self.reporting = Reporting(self, title)
        self.announcer = Announcer(voice, title, send)
        self._opening = ("", "", False)
        self._seen = (-1, -1)
        self._pace = Pace()
        self._behind = False
        self.pulse = Pulse(FLUSHES_PER_SECOND, self._is_behind, lambda: self.call_next(self.flush))

    def compose(self) -> ComposeResult:
        """Lay out the panels."""
        yield Painted(id="small")
        with Container(id="board"):
            yield Painted(id="identity")
            yield Painted(id="notices")
            yield Panel(id="verdict")
            yield Panel(id="phases")
            with Container(id="middle"):
                yield RankPanel(id="ranks")
                yield Panel(id="gpus")
            yield Painted(id="log-heading")
            yield LogPane(id="log")
            yield Input(id="search", placeholder="search the log", compact=True)
            yield from self.compose_more()
            yield Painted(id="footer")

    def compose_more(self) -> ComposeResult:
        """Lay out what stands above the footer: nothing here."""
        yield from ()

    def on_mount(self) -> None:
        """Begin to flush."""
        self.log_view = LogView(self.query_one(LogPane), self.query_one("#search", Input), self.board)
        self.show_opening(*self._opening[:2], failed=self._opening[2])
        self.pulse.begin()

    def on_unmount(self) -> None:
        """Look no more."""
        self.pulse.end()

    # --- the session ---

    def attach(self, console: Console) -> None:
        """Show this session from now on."""
        self.console = console
        self.announcer.begin(console.now())
        self.log_view.clear()
        self._seen = (-1, -1)
        self.flush()

    def detach(self) -> None:
        """There is no session any more."""
        self.console = self.picture = None

    def show_opening(self, text: str, hint: str = "", *, failed: bool = False) -> None:
        """Say how far the connection is, while there is none."""
        self._opening = (text, hint, failed)
        if self.is_mounted and self.console is None:
            self.board.paint_opening(text, hint, failed=failed)

    def _is_behind(self) -> bool:
        return self._is_paint_due() or (self.console is not None and self._moment(self.console) != self._seen)

    def flush(self) -> None:
        """Take what is new; draw only where something is."""
        console, lines = self.console, 0
        if console is None:
            self.pulse.done()
            return
        now = self._moment(console)
        if now[0] != self._seen[0]:
            lines = self.log_view.extend(console.take_lines(), console.open_line())
        self.pulse.done(lines=lines)
        self._behind = self._behind or now != self._seen
        self._seen = now
        if self._is_paint_due():
            self.paint()

    def _moment(self, console: Console) -> tuple[int, int]:
        return console.rev, int(console.now())

    def _is_paint_due(self) -> bool:
        console = self.console
        return self._behind and console is not None and self._pace.is_due(console.state, console.now())

    def paint(self) -> None:
        """Judge the state now and draw all panels."""
        console = self.console
        if console is None:
            self.board.paint_opening(*self._opening[:2], failed=self._opening[2])
            return
        now = self._look(console)
        self.picture = now
        self._pace.painted(now)
        self._behind = False
        self.board.paint(now)
        self.each.follow()
        self.announcer.hear(now.state, now.verdict)
        self.reporting.see(now)

    def _look(self, console: Console) -> Picture:
        return Picture(
            console.state,
            console.verdict(),
            self.host_title,
            console.read_only,
            plan=self.orders.plan,
            held_before=self.orders.held_before,
            asking=self.diagnosing.asking,
            dismissed=self.orders.dismissed,
            recorded=console.recorded,
            left=self.orders.left_over.left,
            others=self.each.others(),
        )

    def on_resize(self, event: events.Resize) -> None:
        """Divide the screen anew."""
        text = f"Too small: {event.size.width} x {event.size.height}; the console needs {SMALLEST[0]} x {SMALLEST[1]}."
        self.query_one("#small", Painted).show([((text, "text"),)])
        if self.is_mounted:
            self.paint()
            if self.focused is None:
                # What was hidden because the terminal was too small has lost the focus.
                self.query_one(f"#{self.board.panel}").focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember which panel has the focus: its heading shows it."""
        if event.widget.id in _PANELS and event.widget.id != self.board.panel:
            self.board.panel = event.widget.id
            self.paint()

    # --- panels ---

    def action_panel(self, name: str) -> None:
        """Go to a panel; where there was no room for it, room is made."""
        self.board.log_alone = False
        before, self.board.panel = self.board.panel, name
        self.paint()
        widget = self.query_one(f"#{name}")
        if widget.display:
            widget.focus()
        else:
            self.board.panel = before
            self.paint()

    def action_back(self) -> None:
        """Undo the nearest thing: the full screen, a search, a filter, what is said of an action that failed."""
        if self.board.log_alone:
            self.board.log_alone = False
        elif not self.log_view.back():
            self.orders.dismiss()
        self.paint()

    def action_full_screen(self) -> None:
        """Give the log the whole screen, or take it back."""
        self.board.log_alone = not self.board.log_alone
        self.board.panel = "log"
        self.query_one(LogPane).focus()
        self.paint()

    def on_rank_panel_moved(self) -> None:
        """Draw the choice."""
        self.paint()

    def on_rank_panel_chosen(self, event: RankPanel.Chosen) -> None:
        """Show the log lines of one rank only."""
        if self.picture is None:
            return
        view = self.picture.verdict.ranks[event.position]
        self.show_node_of(view)
        name = name_of(self.picture.state.attempt, view.rank)
        self.tell(self.log_view.only(view, name, alone=len(self.picture.verdict.ranks) == 1))
        self.paint()

    # --- other screens and the server ---

    def action_help(self) -> None:
        """Show the keys."""
        is_connected = self.console is not None
        read_only = self.console.why_read_only if self.console is not None else ""
        self.app.push_screen(HelpScreen(read_only=read_only, several=self.has_several, connected=is_connected))

    def action_evidence(self) -> None:
        """Show all the evidence."""
        self.app.push_screen(EvidenceScreen(lambda: self.picture))

    def action_servers(self) -> None:
        """Show the servers and orphans of the host."""
        if self.console is not None:
            self.app.push_screen(ServersScreen(self.console), self._choose)

    def _choose(self, choice: Choice | None) -> None:
        console = self.console
        if choice is None or console is None:
            return
        if choice.orphans:
            self.orders.clear(choice.orphans)
        elif choice.server is not None and choice.server != console.state.server:
            console.choose(choice.server)
            self.log_view.clear()
            self.paint()

    def action_diagnose(self) -> None:
        """Ask the host what an expert would ask, and keep the answers in a file."""
        self.diagnosing.begin(self.console)

    def action_report(self) -> None:
        """Write a page about this start, and say where it is."""
        self.reporting.begin(self.picture, self.query_one(LogPane).lines.all())

    def action_retry(self) -> None:
        """Connect again, at once where a lost connection would be tried later."""
        if isinstance(self.console, HasRetries) and self.console.state.link.status in ("lost", "refused"):
            self.console.retries.again()
        else:
            self.post_message(self.Retry())

    def action_restart(self) -> None:
        """Ask whether to restart the server."""
        self.orders.begin("restart")

    def action_kill(self) -> None:
        """Ask whether to stop the server."""
        self.orders.begin("stop")

    def action_left_over(self) -> None:
        """Show what was left in the middle, and what can be done about it."""
        self.orders.see_left()

    def on_screen_resume(self) -> None:
        """Nothing stands above this screen any more: what waited for that is shown."""
        self.orders.uncovered()
