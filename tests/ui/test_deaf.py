"""Keys that a dialog does not act on: each of them is told, and what is typed after it confirms nothing."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.widgets import Button, TextArea
from ui.acts import in_pane, in_unit
from ui.dialogs import ask
from ui.fakes import FakeConsole
from ui.screen import MIDDLE, NARROW, opened, text_of, until

from bringup.ui.screens.dialog import DEAF_FOR, Dialog
from bringup.ui.screens.editor import EditScreen

WHY = "A restart runs `launch` of the target: its command is edited in config.toml."


def of_target() -> FakeConsole:
    """A server that a restart starts by what the configuration says."""
    console = in_unit()
    console.planned = {**console.planned, "start_command": "/opt/serve.sh", "fixed": WHY}
    return console


def early(dialog: Dialog[Any], key: str) -> bool:
    """Press a key just before the dialog listens; say whether it was heard."""
    event = events.Key(key, key if len(key) == 1 else None)
    assert dialog.listens_from is not None
    event.time = dialog.listens_from - 0.001
    return dialog.hears(event)


async def test_where_no_command_can_be_edited_it_is_said_why_and_the_next_y_is_not_heard() -> None:
    async with opened(of_target(), NARROW) as (app, console, pilot):
        dialog = await ask(app, pilot, "R")
        before = events.Event().time
        await pilot.press("e")
        await until(pilot, lambda: "edited in config.toml." in " ".join(text_of(app).split()))
        assert dialog.listens_from is not None
        assert dialog.listens_from >= before + DEAF_FOR
        assert not early(dialog, "y")
        assert console.calls == []


async def test_a_key_that_came_too_early_is_told_and_what_follows_is_not_heard() -> None:
    async with opened(in_pane(), MIDDLE) as (app, console, pilot):
        dialog = await ask(app, pilot, "R")
        assert not early(dialog, "e")
        await until(pilot, lambda: "e came before this could be read" in text_of(app))
        for key in "space", "minus", "d", "y":
            from_then = dialog.listens_from
            assert from_then is not None
            assert not early(dialog, key)
            assert dialog.listens_from is not None
            assert dialog.listens_from > from_then, "whoever types on has not read it"
        from_then = dialog.listens_from
        assert not early(dialog, "escape")
        assert dialog.listens_from == from_then, "a no that is repeated is heard soon"
        assert console.calls == []


async def test_below_the_editor_nothing_of_the_dialog_is_seen() -> None:
    console = in_pane()
    async with opened(console, NARROW) as (app, _, pilot):
        dialog = await ask(app, pilot, "R")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditScreen) and app.screen.focused is not None)
        app.screen.query_one(TextArea).text = ""
        await until(pilot, lambda: text_of(app).count("Cancel") == 1 and "Restart it (y)" not in text_of(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialog and "Restart it (y)" in text_of(app))


async def test_what_is_wrong_with_an_edited_command_is_said_once() -> None:
    async with opened(in_pane(), MIDDLE) as (app, _, pilot):
        await ask(app, pilot, "R")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditScreen) and app.screen.focused is not None)
        app.screen.query_one(TextArea).text = "python '"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen.query_one("#yes", Button).region.height > 0)
        assert isinstance(app.screen, EditScreen)
        assert not [*app._notifications]
