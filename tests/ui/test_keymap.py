"""The operator's own keys: they do what their action does, and the key that did it before does nothing."""

from __future__ import annotations

from ui.screen import opened, until

from bringup.ui.screens.reading import HelpScreen
from bringup.ui.widgets.log import LogPane


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
