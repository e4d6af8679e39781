"""The application over a recording: no connection, no server, nothing that could be touched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bringup.session.replay import Replay
from bringup.ui.app import BringupApp
from bringup.ui.keys import Key, shown
from bringup.ui.operator import Operator
from bringup.ui.own_keys import renamed
from bringup.ui.screens.replay import ReplayScreen


class ReplayApp(BringupApp):
    """The console over a recording, which `read` reads, in a thread, once the first frame is drawn."""

    def __init__(self, read: Callable[[], Replay], *, title: str, theme: str = "bringup-dark") -> None:
        super().__init__(title=title, connect=self._read, disconnect=self._close, theme=theme)
        self._reader = read
        self._replay: Replay | None = None

    @property
    def watch_screen(self) -> ReplayScreen:
        """The main screen."""
        if not isinstance(self._watch_screen, ReplayScreen):
            self._watch_screen = ReplayScreen(self.host_title, self.send)
        return self._watch_screen

    @property
    def _greeting(self) -> str:
        return f"Reading {self.host_title}."

    async def _read(self, operator: Operator) -> Replay:
        operator.say(self._greeting)
        self._replay = await asyncio.to_thread(self._reader)
        self._replay.look_through()
        return self._replay

    async def _close(self) -> None:
        if self._replay is not None:
            await self._replay.close()

    def action_leave(self) -> None:
        """Leave the replay; there is nothing to say."""
        self.exit()

    def action_record(self) -> None:
        """Do nothing: it is recorded already."""

    def keys_shown(self, *, read_only: bool) -> tuple[Key, ...]:
        """Return the keys of a replay."""
        return renamed(shown(read_only=read_only, replay=True), self.own_keys)
