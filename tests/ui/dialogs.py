"""Opening dialogs in tests, and reading what they hold."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from ui.screen import until

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


def body(dialog: Dialog[Any]) -> str:
    """All rows of a dialog as running text, however they are wrapped."""
    return " ".join(" ".join(plain(row) for row in dialog.rows(dialog.inner)).split())
