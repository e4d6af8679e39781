"""The operator's own keys: they do what their action does, and the key that did it before does nothing."""

from __future__ import annotations

import pytest
from ui.screen import opened, until

from bringup.ui.paint.footer import paint_footer
from bringup.ui.paint.help import paint_help
from bringup.ui.paint.row import plain, width_of
from bringup.ui.screens.reading import HelpScreen
from bringup.ui.widgets.log import LogPane
from bringup.ui.widgets.painted import Painted


async def test_own_keys_replace_those_of_an_action() -> None:
    async with opened("weights", (120, 40)) as (app, _, pilot):
        app.set_keymap({"full": "x,f6", "help": "f2", "top": "t"})
        pane = app.watch_screen.query_one(LogPane)
        before = pane.size.height
        await pilot.press("x")
        await until(pilot, lambda: pane.size.height > before)
        await pilot.press("f6")
        await until(pilot, lambda: pane.size.height == before)
        await pilot.press("f", "question_mark")
        assert app.screen is app.watch_screen
        assert pane.size.height == before
        await pilot.press("f2")
        assert isinstance(app.screen, HelpScreen)


async def test_own_keys_are_shown_in_the_help_the_footer_and_the_palette() -> None:
    async with opened("weights", (120, 40)) as (app, _, pilot):
        app.set_keymap({"full": "x,f6", "help": "f2", "search": "question_mark", "kill": "ctrl+k"})
        app.watch_screen.paint()
        footer = "\n".join(plain(row) for row in app.watch_screen.query_one("#footer", Painted).rows)
        assert "f2 help  " in footer
        assert "? search  " in footer
        assert "ctrl+k stop  " in footer
        offered = [command.title for command in app.get_system_commands(app.screen)]
        assert {"full screen  (x)", "help  (f2)", "search  (?)", "stop  (ctrl+k)"} <= set(offered)
        await pilot.press("f2")
        help_screen = app.screen
        assert isinstance(help_screen, HelpScreen)
        rows = [plain(row).rstrip() for row in help_screen.rows(80)]
        assert rows[0].startswith("R and ctrl+k touch the server; u can launch")
        assert any(row.startswith("  x f6        Give the log") for row in rows)
        assert any(row.startswith("  f2          Show all keys.") for row in rows)


@pytest.mark.parametrize("width", [56, 110])
def test_long_names_of_keys_fit_into_the_help(width: int) -> None:
    rows = paint_help(width, read_only=False, own={"follow": "ctrl+shift+f5,full_stop,ctrl+question_mark,pagedown"})
    assert max(width_of(row) for row in rows) <= width
    text = [plain(row).strip() for row in rows]
    at = text.index("ctrl+shift+f5 . ctrl+? PgDn")
    assert text[at + 1].startswith("Follow the end")


def test_own_keys_are_known_before_there_is_a_connection() -> None:
    row = plain(paint_footer(None, 80, "log", {"quit": "f10"}))
    assert row.split() == ["f10", "quit", "?", "help", "r", "connect", "again"]
