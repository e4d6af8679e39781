"""What is not among the lines held here: the same words again search the whole log on the host."""

from __future__ import annotations

import pytest
from ui.screen import MIDDLE, opened, text_of, until

from bringup.core.errors import ChannelRefused
from bringup.ui.loglines import LogLines
from bringup.ui.widgets.log import LogPane


async def test_the_same_words_again_are_searched_for_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened("weights", MIDDLE) as (app, console, pilot):
        asked: list[str] = []

        async def search_log(words: str) -> list[bytes]:
            asked.append(words)
            return [b"11-300-before it", b"12:345:a NEEDLE in the hay", b"13-399-\x1b]0;after\x07it"]

        async def log_beginning() -> list[bytes]:
            raise AssertionError

        monkeypatch.setattr(console, "search_log", search_log, raising=False)
        monkeypatch.setattr(console, "log_beginning", log_beginning, raising=False)
        await pilot.press("slash", *"needle", "enter")
        assert asked == [], "first what is held here is searched"
        await until(pilot, lambda: "Enter once more" in text_of(app))
        await pilot.press("enter")
        await until(pilot, lambda: "a NEEDLE in the hay" in text_of(app))
        assert asked == ["needle"]
        assert "\x1b" not in text_of(app)
        await pilot.press("escape")
        await until(pilot, lambda: "READY" in text_of(app) or "NEEDLE" not in text_of(app))


async def test_the_beginning_of_what_was_dropped_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened("weights", MIDDLE) as (app, console, pilot):

        async def search_log(words: str) -> list[bytes]:
            raise AssertionError

        async def log_beginning() -> list[bytes]:
            raise ChannelRefused("The log is no file on the host.")

        monkeypatch.setattr(console, "search_log", search_log, raising=False)
        monkeypatch.setattr(console, "log_beginning", log_beginning, raising=False)
        pane = app.watch_screen.query_one(LogPane)
        pane.lines = LogLines(cap=40)
        pane.extend([b"line %d" % number for number in range(200)], b"")
        pane.focus()
        await pilot.press("home")
        assert "no file" not in text_of(app)
        await pilot.press("home")
        await until(pilot, lambda: "no file on the host" in text_of(app))
