"""The servers and orphans of a host: to choose which server is watched, and which orphans are cleared."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from bringup.core.errors import BringupError
from bringup.core.events import Server
from bringup.core.sanitize import clean_text
from bringup.core.words import names
from bringup.session.console import Console, Orphan
from bringup.ui.css import css
from bringup.ui.paint.measures import count
from bringup.ui.paint.orphans import paint_orphan, paint_server
from bringup.ui.paint.row import Row, wrapped
from bringup.ui.widgets.painted import Painted, inks_of

EVERY = 5.0
"""Seconds between two looks: servers and orphans come and go, and others clear them, too."""
_WIDEST = 100
_AROUND = 8
Identity = tuple[int, int]
"""PID and start time."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen: a server to watch, or orphans to clear."""

    server: Server | None = None
    orphans: tuple[Orphan, ...] = ()


class ServersScreen(ModalScreen[Choice]):
    """A list; enter watches a server, space selects an orphan, escape leaves all as it is."""

    CSS_PATH = css("dialog")
    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,o", "close", show=False),
        Binding("j", "step(1)", show=False),
        Binding("k", "step(-1)", show=False),
        Binding("space", "select", show=False),
        Binding("C", "clear", show=False),
    ]

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.servers: tuple[Server, ...] = ()
        self.orphans: tuple[Orphan, ...] = ()
        self.chosen: set[Identity] = set()
        self._listed: tuple[Identity | None, ...] = ()
        """The processes that the rows of the list are about."""
        self.is_known = False
        """The host has answered what orphans there are."""
        self._why = ""
        self._session = console
        self._read_only = console.read_only
        self._take()

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical(id="dialog"):
            yield Painted(id="body")
            yield OptionList(markup=False)
            yield Painted(id="choices")

    def on_mount(self) -> None:
        """Show the servers, and look for orphans."""
        self.draw()
        self.run_worker(self._find(), name="orphans")

    def on_resize(self) -> None:
        """Draw the rows to the new width."""
        self.draw()

    async def _find(self) -> None:
        while True:
            try:
                self.orphans, self._why = await self._session.orphans(), ""
            except BringupError as error:
                self._why = f"What orphans there are is not known: {error}"
            self.is_known = True
            self.chosen &= {orphan.identity for orphan in self.orphans}
            self._take()
            self.draw()
            await asyncio.sleep(EVERY)

    def _take(self) -> None:
        """Take the servers that the session knows of now."""
        state = self._session.state
        watched = (state.server,) if state.server is not None and state.gone_at is None else ()
        self._state, self._now = state, self._session.now()
        self.servers = (*watched, *state.others)

    @property
    def selected(self) -> tuple[Orphan, ...]:
        """The orphans that are selected."""
        return tuple(orphan for orphan in self.orphans if orphan.identity in self.chosen)

    def draw(self) -> None:
        """Fill the list, keeping the place in it."""
        options = self.query_one(OptionList)
        width = min(_WIDEST, self.app.size.width - _AROUND)
        at, before = options.highlighted, self._listed
        pointed = before[at] if at is not None and at < len(before) else None
        options.clear_options()
        found = self._options(width)
        options.add_options(option for _, option in found)
        self._listed = tuple(identity for identity, _ in found)
        kept = pointed is not None and pointed in self._listed
        options.highlighted = self._listed.index(pointed) if kept else self._first
        head, foot = self._head(), [(), *self._hints()]
        for name, rows in (("#body", head), ("#choices", foot)):
            painted = self.query_one(name, Painted)
            painted.styles.height = len(rows)
            painted.show(rows)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Watch a server, or select an orphan."""
        kind, _, number = (event.option_id or "").partition("-")
        if kind == "server":
            self.dismiss(Choice(server=self.servers[int(number)]))
        else:
            self.action_select()

    def action_select(self) -> None:
        """Select the orphan that is pointed at, or select it no more."""
        options = self.query_one(OptionList)
        at = options.highlighted
        kind, _, number = ((options.get_option_at_index(at).id or "") if at is not None else "").partition("-")
        if kind != "orphan":
            return
        if self._read_only:
            self.notify(clean_text(self._session.why_read_only), severity="warning", markup=False)
            return
        orphan = self.orphans[int(number)]
        if orphan.why_not:
            self.notify(clean_text(f"It cannot be cleared. {orphan.why_not}"), severity="warning", markup=False)
            return
        self.chosen ^= {orphan.identity}
        self.draw()

    def action_clear(self) -> None:
        """Answer with the selected orphans; they are asked for once more before anything is done."""
        if self._read_only:
            self.notify(clean_text(self._session.why_read_only), severity="warning", markup=False)
            return
        if self.selected:
            self.dismiss(Choice(orphans=self.selected))
        elif any(not orphan.why_not for orphan in self.orphans):
            self.notify("Select orphans first, with space.", markup=False)

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

    @property
    def _first(self) -> int | None:
        return 0 if self.servers else 1 if self.orphans else None

    def _head(self) -> list[Row]:
        told = count(len(self.servers), "server") if self.servers else "No server found"
        leftovers = sum(orphan.is_leftover for orphan in self.orphans)
        counts = ((len(self.orphans) - leftovers, "orphan"), (leftovers, "leftover"))
        told = names([told, *(count(number, what) for number, what in counts if number)])
        return [((f"{told} on this host", "title"),), ()]

    def _options(self, width: int) -> list[tuple[Identity | None, Option]]:
        """The rows of the list, each with the process that it is about."""
        inks = inks_of(self.app)

        def shown(rows: list[Row], name: str = "", of: Identity | None = None) -> tuple[Identity | None, Option]:
            lines = [Text.assemble(*((clean_text(text), inks[ink]) for text, ink in row)) for row in rows]
            return of, Option(Text("\n").join(lines), id=name or None, disabled=not name)

        found = [
            shown([paint_server(server, self._state, self._now, width)], f"server-{number}", (server.pid, server.start))
            for number, server in enumerate(self.servers)
        ]
        found.append(shown(self._between(width)))
        told = False
        for number, orphan in enumerate(self.orphans):
            if orphan.is_leftover and not told:
                found.append(shown([(), (("Leftovers: they hold no GPU memory and disturb no start", "title"),)]))
                told = True
            chosen = orphan.identity in self.chosen
            rows = paint_orphan(orphan, width, chosen=chosen, read_only=self._read_only)
            found.append(shown(rows, f"orphan-{number}", orphan.identity))
        return found

    def _between(self, width: int) -> list[Row]:
        """What stands above the orphans, or in their place."""
        rows: list[Row] = [()] if self.servers else []
        if self._why:
            return [*rows, *(((line, "slow"),) for line in wrapped(clean_text(self._why), width, 3))]
        if not self.is_known:
            return [*rows, (("Looking for orphans.", "quiet"),)]
        if not self.orphans:
            return [*rows, (("No orphans: no worker lives on without its launcher.", "quiet"),)]
        if all(orphan.is_leftover for orphan in self.orphans):
            return [*rows, (("No orphans that hold GPU memory.", "quiet"),)]
        unasked = next((orphan.unasked for orphan in self.orphans if orphan.unasked), "")
        why = wrapped(clean_text(f"What they hold of the GPUs is not known: {unasked}."), width, 3) if unasked else []
        title: Row = (("Orphans: workers that live on without their launcher", "title"),)
        return [*rows, title, *(((line, "slow"),) for line in why)]

    def _hints(self) -> list[Row]:
        keys = [("enter", "watches it")] if self.servers else []
        if not self._read_only and any(not orphan.why_not for orphan in self.orphans):
            clears = f"clears {len(self.chosen)} selected" if self.chosen else "clears those selected"
            keys += [("space", "selects it"), ("C", clears)]
        keys.append(("esc", "goes back"))
        row: Row = ()
        for key, does in keys:
            row = (*row, (key, "key"), (f" {does}  ", "quiet"))
        return [row]
