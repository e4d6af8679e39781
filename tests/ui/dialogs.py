"""Opening dialogs in tests, and reading what they hold."""

from __future__ import annotations

import asyncio
from typing import Any

from textual.pilot import Pilot
from ui.acts import advance
from ui.fakes import FakeConsole
from ui.screen import text_of, until

from bringup.ui.app import BringupApp
from bringup.ui.paint.row import plain
from bringup.ui.screens.dialog import DEAF_FOR, Dialog


async def ask(app: BringupApp, pilot: Pilot[None], key: str) -> Dialog[Any]:
    """Open a dialog and let the time pass in which it hears nothing."""
    await pilot.press(key)
    return await heard(app, pilot)


async def heard(app: BringupApp, pilot: Pilot[None]) -> Dialog[Any]:
    """Wait for a dialog, and let the time pass in which it hears nothing."""
    await until(pilot, lambda: isinstance(app.screen, Dialog) and app.screen.listens_from is not None)
    assert isinstance(app.screen, Dialog)
    assert app.screen.listens_from is not None
    app.screen.listens_from -= DEAF_FOR
    return app.screen


async def begin_stop(app: BringupApp, console: FakeConsole, pilot: Pilot[None]) -> asyncio.Event:
    """Order a stop with SIGTERM, which goes on until what is returned is set."""
    console.order = ended = asyncio.Event()
    await ask(app, pilot, "K")
    await pilot.press("y")
    await until(pilot, lambda: console.calls == [("stop", "TERM")])
    return ended


async def begin_drain(app: BringupApp, console: FakeConsole, pilot: Pilot[None]) -> asyncio.Event:
    """Order a stop that waits for nine processes to end."""
    ended = await begin_stop(app, console, pilot)
    advance(console, "9 processes still run; SIGKILL in 25 s.", left=25.0)
    await until(pilot, lambda: "K: kill now?" in text_of(app))
    return ended


def body(dialog: Dialog[Any], width: int = 0) -> str:
    """All rows of a dialog as running text, however they are wrapped; with a width where it is on no screen."""
    return " ".join(" ".join(plain(row) for row in dialog.rows(width or dialog.inner)).split())
