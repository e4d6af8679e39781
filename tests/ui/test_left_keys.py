"""The keys that lead to what was left in the middle, and what they say where they lead to nothing."""

from __future__ import annotations

from typing import Any

import pytest
from ui.acts import cut
from ui.dialogs import body, heard
from ui.scenes import SCENES, searching
from ui.screen import MIDDLE, opened, text_of, until

from bringup.core.errors import BringupError, ConnectionLost
from bringup.hosts.control import Unfinished
from bringup.ui.paint.row import plain
from bringup.ui.screens.confirm import RestartDialog
from bringup.ui.screens.dialog import Dialog
from bringup.ui.screens.left import LeftDialog
from bringup.ui.widgets.painted import Painted

NONE = BringupError("There is no server to stop.", "Looking for a launcher.")


async def test_a_restart_shows_what_is_kept_of_a_server_that_failed_late() -> None:
    console = SCENES["stopped"]()
    async with opened(console, MIDDLE) as (app, _, pilot):
        await pilot.press("R")
        dialog = await heard(app, pilot)
        assert isinstance(dialog, RestartDialog), "nothing is kept"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        console.restartable = "Its launcher has ended and its environment went with it."
        console.left = cut(step="failed", new=(100, 1))
        await pilot.press("R")
        left = await heard(app, pilot)
        assert isinstance(left, LeftDialog)
        assert "Launch it again (y)" in text_of(app)


async def test_a_restart_shows_what_is_kept_to_a_console_that_never_saw_the_server() -> None:
    console = searching()
    console.left, console.refusal = cut(step="failed"), NONE
    async with opened(console, MIDDLE) as (app, _, pilot):
        await heard(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.watch_screen)
        await pilot.press("R")
        left = await heard(app, pilot)
        assert isinstance(left, LeftDialog)
        assert "There is no server" not in " ".join(each.message for each in app._notifications)
        await pilot.press("y")
        await until(pilot, lambda: console.calls == [("resume", (100, 1))])


@pytest.mark.usefixtures("words_that_stay")
@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (NONE, "There is no server to restart. Looking for a launcher."),
        (ConnectionLost("There is no connection to gpu-a now."), "There is no connection to gpu-a now."),
    ],
)
async def test_where_nothing_is_kept_a_restart_says_that_there_is_nothing_to_restart(
    refusal: BringupError, said: str
) -> None:
    console = searching()
    console.refusal = refusal
    async with opened(console, MIDDLE) as (app, _, pilot):
        await pilot.press("R")
        await until(pilot, lambda: said in [each.message for each in app._notifications])
        assert app.screen is app.watch_screen


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (cut(kept=False, command="docker start llm", step="failed"), "docker start llm starts it: its command is"),
        (cut(respawns=True), "What had started it starts it again: its command is edited there."),
        (cut(), "The host has not told the command that it keeps."),
        (cut(step="stopping", alive=((100, 1),)), "Nothing can be launched from here now."),
    ],
)
async def test_where_no_command_can_be_edited_the_key_for_it_says_why(left: Unfinished, why: str) -> None:
    console = SCENES["stopped"]()
    console.left = left
    async with opened(console, MIDDLE) as (app, _, pilot):
        dialog = await heard(app, pilot)
        assert "edits the command" not in body(dialog)
        await pilot.press("e")
        await until(pilot, lambda: noted(dialog).startswith(f"No command can be edited here. {why}"))
        assert app.screen is dialog


def noted(dialog: Dialog[Any]) -> str:
    """What a dialog says below its body, as running text."""
    return " ".join(" ".join(plain(row) for row in dialog.query_one("#choices", Painted).rows).split())
